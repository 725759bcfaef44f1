package dev.idempotent.outbox;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Which due events a claim takes.
 *
 * @param parked those that wait for another attempt, or those that had none
 * @param above a row behind which to begin, of those that had none; a claim that begins
 * at 0 sees all of them
 * @param publishers prefixes of the topics that it takes
 * @param except topics that it leaves out
 * @param topic the one topic that it takes, or {@code null} for all of the publishers
 * @param limit how many at most
 * @param bytes at how many bytes of payload it takes no further event; it always takes
 * one
 * @param attempts an event of which more attempts have begun comes without its payload
 */
public record ClaimScope(boolean parked, long above, Set<String> publishers, Set<String> except, @Nullable String topic,
		int limit, long bytes, int attempts) {

	/**
	 * All topics of some publishers, and any payloads.
	 * @param parked those that wait for another attempt, or those that had none
	 * @param above a row behind which to begin, of those that had none
	 * @param publishers prefixes of the topics that it takes
	 * @param limit how many at most
	 */
	public ClaimScope(boolean parked, long above, Set<String> publishers, int limit) {
		this(parked, above, publishers, Set.of(), null, limit, Long.MAX_VALUE, Integer.MAX_VALUE);
	}

}
