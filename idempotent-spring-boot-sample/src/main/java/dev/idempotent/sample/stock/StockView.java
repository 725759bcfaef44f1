package dev.idempotent.sample.stock;

/**
 * The units of a sale, as one query of the database has seen them.
 *
 * @param sale the sale
 * @param free the units that nothing holds
 * @param held the units of held reservations
 * @param confirmed the units of confirmed reservations
 */
public record StockView(FlashSale sale, int free, int held, int confirmed) {

}
