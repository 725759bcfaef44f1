package dev.idempotent.sample.stats;

/**
 * Numbers of rows in the database, which are the same for all instances. A declined call
 * of the gateway does not count as a charge.
 *
 * @param eventsDelivered number of deliveries of events to the consumer
 * @param eventsHandled number of notifications that the consumer has written
 * @param duplicatesDropped number of deliveries of events that had been handled before,
 * less those that had an effect
 */
record Stats(long orders, long payments, long charges, long feedback, long eventsDelivered, long eventsHandled,
		long duplicatesDropped) {

}
