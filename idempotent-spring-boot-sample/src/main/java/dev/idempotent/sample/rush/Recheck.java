package dev.idempotent.sample.rush;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What the shop has answered when the requests of a rush were repeated after it.
 *
 * @param problems answers that differed or did not come
 * @param told the users of the reservations that were promised, by the reservations' ids
 * @param orders the ids of the orders that were promised
 * @param ended the ids of the reservations that the shop now denies
 * @param keys how many keys each user has used
 * @param sold whether one more buyer got a unit, or {@code null} without a final answer
 */
record Recheck(List<String> problems, Map<String, String> told, Set<String> orders, Set<String> ended,
		Map<String, Integer> keys, @Nullable Boolean sold) {

}
