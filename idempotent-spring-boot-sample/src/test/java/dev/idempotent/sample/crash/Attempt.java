package dev.idempotent.sample.crash;

import org.jspecify.annotations.Nullable;

/**
 * One request of a customer, and what became of it. Times are milliseconds of this
 * machine's clock.
 *
 * @param life which life of which instance was asked
 * @param chaos what {@code X-Chaos} asked for, or nothing
 * @param altered whether it asked for something else under the same key
 * @param sent when it was sent
 * @param ended when its answer came, or when it was clear that none will
 * @param answer the answer, if one came
 * @param trouble why none came
 */
record Attempt(String life, String chaos, boolean altered, long sent, long ended, @Nullable Answer answer,
		String trouble) {

	static final String BROKEN = "broken off";

	private static final long NOTED_MILLIS = 500;

	/**
	 * The answer, unless it was to ask again.
	 */
	@Nullable Answer finalAnswer() {
		return (this.answer != null && this.answer.isFinal()) ? this.answer : null;
	}

	/**
	 * Whether the instance died with this request in hand. A death is noted a little
	 * after its connections have broken.
	 */
	boolean wasInHandAt(long death) {
		return this.trouble.equals(BROKEN) && this.sent <= death && this.ended >= death - NOTED_MILLIS;
	}

	/**
	 * What came of it, in a word to count by.
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
