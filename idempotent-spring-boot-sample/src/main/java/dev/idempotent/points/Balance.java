package dev.idempotent.points;

/**
 * The points of an account.
 *
 * @param points the sum of all credits that are not cancelled
 * @param credits how many credits there were, cancelled ones included
 * @param cancelled how many of them are cancelled
 */
record Balance(long points, long credits, long cancelled) {

}
