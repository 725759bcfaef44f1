package dev.idempotent.sample.stock;

/**
 * The sale of a limited number of units.
 *
 * @param item the item on sale
 * @param stock the number of units
 * @param perUser how many live reservations a user may have at a time, 1 to 10
 */
public record FlashSale(String item, int stock, int perUser) {

}
