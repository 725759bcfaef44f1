package dev.idempotent.sample.crash;

import org.jspecify.annotations.Nullable;

/**
 * One request of a customer and its outcome. Times are milliseconds of this machine's
 * clock.
 *
 * @param life the life of the instance that received it
 * @param chaos its header {@code X-Chaos}, or nothing
 * @param altered whether it differed from the first request of its key
 * @param sent when it was sent
 * @param ended when its answer came, or when it failed
 * @param answer the answer, if one came
 * @param trouble why none came
 */
record Attempt(String life, String chaos, boolean altered, long sent, long ended, @Nullable Answer answer,
		String trouble) {

	static final String BROKEN = "broken off";

	private static final long NOTED_MILLIS = 500;

	/**
	 * The answer, unless it asked for a retry.
	 */
	@Nullable Answer finalAnswer() {
		return (this.answer != null && this.answer.isFinal()) ? this.answer : null;
	}

	/**
	 * Whether the instance died while it processed this request. A death is recorded
	 * shortly after its connections have broken.
	 */
	boolean wasInHandAt(long death) {
		return this.trouble.equals(BROKEN) && this.sent <= death && this.ended >= death - NOTED_MILLIS;
	}

	/**
	 * The outcome, as a word for statistics.
	 */
	String outcome() {
		if (this.answer == null) {
			return this.trouble;
		}
		return this.answer.status() + (this.answer.replayed() ? " replayed" : "");
	}

	/**
	 * A line for the history of a key.
	 */
	String describe() {
		return "%-9s %s%s -> %s after %d ms%s".formatted(this.life, this.chaos.isEmpty() ? "place" : this.chaos,
				this.altered ? ", altered" : "", outcome(), this.ended - this.sent,
				(this.answer != null) ? " [" + this.answer.digest() + "]" : "");
	}

}
