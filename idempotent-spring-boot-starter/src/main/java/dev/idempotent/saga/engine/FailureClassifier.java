package dev.idempotent.saga.engine;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.saga.StepRefusedException;

/**
 * Decides what the exception of an action or undo proves. Without knowledge of a
 * protocol, only a {@link StepRefusedException} proves something.
 */
public class FailureClassifier {

	/**
	 * Classifies an exception of an action or undo. A refusal proves nothing if the last
	 * call that was observed has got no response: then the application cannot know.
	 * @param failure the exception
	 * @param context the context that was bound during the call
	 * @param first whether it is certain that the action has not been called before
	 * @param refusals the HTTP statuses by which the service refuses, besides those that
	 * always prove a refusal
	 * @return what it proves
	 */
	public Verdict ofCall(Throwable failure, IdempotencyContext context, boolean first, Set<Integer> refusals) {
		Calls calls = context.calls();
		boolean silent = calls.open() > 0 && calls.lastAnswer() == null;
		return (failure instanceof StepRefusedException && !silent) ? Verdict.REFUSED : Verdict.UNKNOWN;
	}

	/**
	 * Describes an exception for operators, without messages, bodies and keys.
	 * @param failure the exception
	 * @return the description
	 */
	public String describe(Throwable failure) {
		return reasonOf(failure);
	}

	/**
	 * Returns the reason that is stored for operators: the text of a refusal, otherwise
	 * the type of the exception. Messages of other exceptions could contain personal
	 * data.
	 */
	static String reasonOf(Throwable failure) {
		String text = (failure instanceof StepRefusedException) ? failure.getMessage() : null;
		return (text != null && !text.isBlank()) ? text : failure.getClass().getName();
	}

	/**
	 * What an exception proves.
	 */
	public enum Verdict {

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
