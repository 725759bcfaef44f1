package dev.idempotent.saga.run;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext;

/**
 * Decides what the exception of an action or undo proves.
 */
@FunctionalInterface
public interface FailureClassifier {

	/**
	 * Classifies an exception of an action or undo that ran outside a transaction.
	 * @param failure the exception
	 * @param attempt what is known of the attempt
	 * @return what it proves
	 */
	Verdict ofCall(Throwable failure, Attempt attempt);

	/**
	 * Describes an exception for operators, without messages, bodies and keys.
	 * @param failure the exception
	 * @return the description
	 */
	default String describe(Throwable failure) {
		return Reasons.of(failure);
	}

	/**
	 * An attempt of an action or undo.
	 *
	 * @param context the context that was bound during the call
	 * @param first whether it is certain that the action has not been called before
	 * @param refusals the HTTP statuses by which the service refuses, besides those that
	 * always prove a refusal
	 */
	record Attempt(IdempotencyContext context, boolean first, Set<Integer> refusals) {

		/**
		 * Copies the set.
		 */
		public Attempt {
			refusals = Set.copyOf(refusals);
		}

	}

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
