package dev.idempotent.sample.stats;

/**
 * What the database holds: rows, not events of this process, so that several instances
 * agree. A declined call of the gateway is no charge.
 *
 * @param eventsDelivered how often the stream has brought an event to the consumer
 * @param eventsHandled how many notifications the consumer has written
 * @param duplicatesDropped how many deliveries came after their event had been handled,
 * less those that had an effect all the same
 */
record Stats(long orders, long payments, long charges, long feedback, long eventsDelivered, long eventsHandled,
		long duplicatesDropped) {

}
