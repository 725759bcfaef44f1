package dev.idempotent.saga.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How one run of a saga has ended.
 *
 * @param kind the kind
 * @param result the result of a saga that has completed
 * @param reason why it was undone, or the name of the wait
 * @param due the time until a wait ends
 * @param failure why nothing is stored
 */
record RunEnd(Kind kind, @Nullable Object result, @Nullable String reason, Duration due, @Nullable Throwable failure) {

	static RunEnd of(Kind kind) {
		return of(kind, null, null);
	}

	private static RunEnd of(Kind kind, @Nullable String reason, @Nullable Throwable failure) {
		return new RunEnd(kind, null, reason, Duration.ZERO, failure);
	}

	static RunEnd completed(@Nullable Object result) {
		return new RunEnd(Kind.COMPLETED, result, null, Duration.ZERO, null);
	}

	static RunEnd compensated(String reason) {
		return of(Kind.COMPENSATED, reason, null);
	}

	static RunEnd refused(String reason) {
		return of(Kind.REFUSED, reason, null);
	}

	static RunEnd failed(Throwable failure) {
		return of(Kind.FAILED, null, failure);
	}

	static RunEnd released(@Nullable Throwable failure) {
		return of(Kind.RELEASED, null, failure);
	}

	static RunEnd waiting(String wait, Duration due) {
		return new RunEnd(Kind.WAITING, null, wait, due, null);
	}

	/**
	 * The kind of an end.
	 */
	enum Kind {

		/**
		 * The saga has completed.
		 */
		COMPLETED,

		/**
		 * The saga was undone.
		 */
		COMPENSATED,

		/**
		 * An operator must decide.
		 */
		HALTED,

		/**
		 * The saga is open, and any instance can take it over.
		 */
		RELEASED,

		/**
		 * The saga waits for a signal or for some time.
		 */
		WAITING,

		/**
		 * Another owner has the saga.
		 */
		LOST,

		/**
		 * The saga existed before, with any status.
		 */
		EXISTS,

		/**
		 * Another transaction is inserting the saga.
		 */
		CONTENDED,

		/**
		 * The first step was refused, so nothing was stored.
		 */
		REFUSED,

		/**
		 * The body failed before anything was stored.
		 */
		FAILED

	}

}
