package dev.idempotent.sample.stats;

/**
 * What the database holds: rows, not events of this process, so that several instances
 * agree. A declined call of the gateway is no charge.
 */
record Stats(long orders, long payments, long charges, long feedback) {

}
