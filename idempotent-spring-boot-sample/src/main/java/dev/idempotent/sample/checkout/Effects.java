package dev.idempotent.sample.checkout;

/**
 * The effects of a customer's checkouts in all services.
 *
 * @param orders the number of orders that are not rejected
 * @param rejected the number of rejected orders
 * @param charges the number of charges
 * @param refunds the number of refunds
 * @param points the points, without cancelled credits
 * @param credits the number of credits, cancelled ones included
 */
record Effects(long orders, long rejected, long charges, long refunds, long points, long credits) {

}
