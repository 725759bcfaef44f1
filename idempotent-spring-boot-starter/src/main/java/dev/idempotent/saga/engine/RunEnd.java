package dev.idempotent.saga.engine;

import org.jspecify.annotations.Nullable;

/**
 * How one run of a saga has ended.
 *
 * @param kind the kind
 * @param result the result of a saga that has completed
 * @param reason why it was undone
 * @param failure why nothing is stored
 */
record RunEnd(Kind kind, @Nullable Object result, @Nullable String reason, @Nullable Throwable failure) {

	static RunEnd of(Kind kind) {
		return new RunEnd(kind, null, null, null);
	}

	static RunEnd completed(@Nullable Object result) {
		return new RunEnd(Kind.COMPLETED, result, null, null);
	}

	static RunEnd compensated(String reason) {
		return new RunEnd(Kind.COMPENSATED, null, reason, null);
	}

	static RunEnd refused(String reason) {
		return new RunEnd(Kind.REFUSED, null, reason, null);
	}

	static RunEnd failed(Throwable failure) {
		return new RunEnd(Kind.FAILED, null, null, failure);
	}

	static RunEnd released(@Nullable Throwable failure) {
		return new RunEnd(Kind.RELEASED, null, null, failure);
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
