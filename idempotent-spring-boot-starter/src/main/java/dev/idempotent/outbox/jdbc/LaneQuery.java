package dev.idempotent.outbox.jdbc;

/**
 * Where to look for the first row of a lane.
 *
 * @param above only rows above this one; 0 for all
 */
public record LaneQuery(long lane, long above) {
}
