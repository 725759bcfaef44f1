package dev.idempotent.sample.stock;

/**
 * A unit that was taken or released.
 *
 * @param reservation the reservation of the unit, afterwards
 * @param facts its shelf and its owner, afterwards
 */
record StockChange(Reservation reservation, StockFacts facts) {

}
