package dev.idempotent.saga.run;

import dev.idempotent.idempotency.IdempotencyContext;

/**
 * Decides what the exception of an action or undo proves.
 */
@FunctionalInterface
public interface FailureClassifier {

	/**
	 * Classifies an exception of an action or undo that ran outside a transaction.
	 * @param failure the exception
	 * @param context the context that was bound during the call
	 * @param first whether it is certain that the action has not been called before
	 * @return what it proves
	 */
	Verdict ofCall(Throwable failure, IdempotencyContext context, boolean first);

	/**
	 * What an exception proves.
	 */
	enum Verdict {

		/**
		 * The action was refused and has not taken effect.
		 */
		REFUSED,

		/**
		 * The outcome is unknown, and another attempt may determine it.
		 */
		UNKNOWN,

		/**
		 * No attempt can determine the outcome: an operator must decide.
		 */
		HALT

	}

}
