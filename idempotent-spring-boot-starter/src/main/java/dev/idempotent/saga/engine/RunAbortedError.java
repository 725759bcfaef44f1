package dev.idempotent.saga.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Leaves the method of a saga from a step. This is an error, so that a method that
 * catches exceptions does not catch it. If it does, its next step throws it again.
 */
final class RunAbortedError extends Error {

	private final Cause why;

	private final String reason;

	private final Duration due;

	RunAbortedError(Cause why) {
		this(why, "", Duration.ZERO, null);
	}

	/**
	 * Leaves a saga.
	 * @param reason of a saga that is to be halted, the text of a {@link HaltReason}
	 */
	RunAbortedError(Cause why, String reason, @Nullable Throwable cause) {
		this(why, reason, Duration.ZERO, cause);
	}

	private RunAbortedError(Cause why, String reason, Duration due, @Nullable Throwable cause) {
		super("A step has left the method of its saga, which is not a failure. Do not catch errors around steps", cause,
				false, false);
		this.why = why;
		this.reason = reason;
		this.due = due;
	}

	/**
	 * Leaves a saga that was released until a wait ends.
	 */
	static RunAbortedError waiting(String wait, Duration due) {
		return new RunAbortedError(Cause.WAITING, wait, due, null);
	}

	Cause why() {
		return this.why;
	}

	/**
	 * The reason for operators, or the name of the wait; empty if the cause needs none.
	 */
	String reason() {
		return this.reason;
	}

	/**
	 * The time until a wait ends.
	 */
	Duration due() {
		return this.due;
	}

	/**
	 * Why a run is aborted.
	 */
	enum Cause {

		/**
		 * The first step found that the saga exists.
		 */
		EXISTS,

		/**
		 * Another transaction is inserting the saga.
		 */
		CONTENDED,

		/**
		 * The saga was not in the expected state: it is lost to another owner, or its
		 * deadline has passed.
		 */
		LOST,

		/**
		 * A step has taken longer than its time limit, and another run may continue the
		 * saga.
		 */
		ABANDONED,

		/**
		 * The outcome of a step is unknown.
		 */
		UNKNOWN,

		/**
		 * The method does not match the journal.
		 */
		INCOMPATIBLE,

		/**
		 * An operator must decide.
		 */
		HALT,

		/**
		 * The outcome of a step is unknown, and its service may have forgotten the key.
		 */
		EXPIRED,

		/**
		 * The method was run to collect its undo actions, and has registered all of them.
		 */
		COLLECTED,

		/**
		 * The saga waits for a signal or for some time, and was released.
		 */
		WAITING,

		/**
		 * The process is stopping.
		 */
		STOPPING

	}

}
