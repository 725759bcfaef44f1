package dev.idempotent.saga.run;

/**
 * Decides what the exception of an action, of its undo or of a body proves.
 */
@FunctionalInterface
public interface FailureClassifier {

	/**
	 * Classifies an exception of an action or undo that ran outside a transaction.
	 * @param failure the exception
	 * @param first whether it is certain that the action has not been called before
	 * @return what it proves
	 */
	Verdict ofCall(Throwable failure, boolean first);

	/**
	 * What an exception proves.
	 */
	enum Verdict {

		/**
		 * The action was refused and has not taken effect.
		 */
		REFUSED,

		/**
		 * The outcome is unknown, and another attempt may tell it.
		 */
		UNKNOWN,

		/**
		 * No attempt can tell the outcome: an operator must decide.
		 */
		HALT

	}

}
