package dev.idempotent.idempotency.engine;

import org.jspecify.annotations.Nullable;

/**
 * The result of a change that an operator has requested.
 *
 * @param outcome what was done
 * @param before the key before; {@code null} if it was absent
 * @param now the key afterwards; {@code null} if it is absent
 */
public record KeyChange(Outcome outcome, @Nullable FoundKey before, @Nullable FoundKey now) {

	/**
	 * What was done.
	 */
	public enum Outcome {

		/**
		 * The key was changed. A request may have claimed it again since.
		 */
		DONE,

		/**
		 * There was no such key.
		 */
		ABSENT,

		/**
		 * The key was in the other state and is unchanged.
		 */
		REFUSED,

		/**
		 * A request has changed the key at the same time.
		 */
		CONTENDED

	}

}
