package dev.idempotent.transition.jdbc;

import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.dao.OptimisticLockingFailureException;

/**
 * The outcome of a move. It must not be returned by an {@code @Idempotent} method, which
 * would store a conflict: call {@link #orThrow()} there.
 *
 * @param <S> the enum of the states
 * @param outcome whether the row was moved
 * @param state the state of the row; {@code null} if it is absent
 * @param version the version of the row; {@code null} if it is absent
 */
public record TransitionResult<S extends Enum<S>>(Outcome outcome, @Nullable S state, @Nullable Long version) {

	static <S extends Enum<S>> TransitionResult<S> applied(S state, long version) {
		return new TransitionResult<>(Outcome.APPLIED, state, version);
	}

	static <S extends Enum<S>> TransitionResult<S> conflict(S state, long version) {
		return new TransitionResult<>(Outcome.CONFLICT, state, version);
	}

	static <S extends Enum<S>> TransitionResult<S> absent() {
		return new TransitionResult<>(Outcome.ABSENT, null, null);
	}

	/**
	 * Returns the new version.
	 * @return the version that this move has set
	 * @throws OptimisticLockingFailureException on a conflict
	 * @throws EmptyResultDataAccessException if the row is absent
	 */
	public long orThrow() {
		return switch (this.outcome) {
			case APPLIED -> Objects.requireNonNull(this.version);
			case CONFLICT -> throw new OptimisticLockingFailureException(
					"The row was not moved: another call has changed it, its state is now %s and its version %d"
						.formatted(this.state, this.version));
			case ABSENT -> throw new EmptyResultDataAccessException("The row was not moved: it does not exist", 1);
		};
	}

	/**
	 * Whether a row was moved.
	 */
	public enum Outcome {

		/**
		 * This call has moved the row.
		 */
		APPLIED,

		/**
		 * The row has another state, or another version.
		 */
		CONFLICT,

		/**
		 * There is no such row.
		 */
		ABSENT

	}

}
