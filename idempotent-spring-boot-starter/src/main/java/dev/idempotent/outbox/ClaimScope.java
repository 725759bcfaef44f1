package dev.idempotent.outbox;

import java.util.Set;

/**
 * Which due events a claim takes.
 *
 * @param parked those that wait for another attempt, or those that had none
 * @param above a row behind which to begin, of those that had none; a claim that begins
 * at 0 sees all of them
 * @param publishers prefixes of the topics that it takes
 * @param limit how many at most
 */
public record ClaimScope(boolean parked, long above, Set<String> publishers, int limit) {
}
