package dev.idempotent.sample.stock;

/**
 * What the gate in Redis knows of a sale.
 *
 * @param units the free units that the gate knows of
 * @param tickets the tickets of requests whose outcome the gate does not know
 */
public record GateView(int units, int tickets) {

}
