package dev.idempotent.outbox;

/**
 * How many events there are, as far as it is worth counting.
 *
 * @param events how many
 * @param exact {@code false} if there are at least as many
 */
public record EventCount(int events, boolean exact) {

	/**
	 * How far events are counted.
	 */
	public static final int LIMIT = 10_000;

	/**
	 * A count that went no further than one beyond the limit.
	 * @param counted how many were counted
	 * @return at most the limit
	 */
	public static EventCount of(int counted) {
		return new EventCount(Math.min(counted, LIMIT), counted <= LIMIT);
	}

}
