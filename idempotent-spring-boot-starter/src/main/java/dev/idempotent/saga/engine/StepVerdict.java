package dev.idempotent.saga.engine;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.saga.StepRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt of an action or undo proves. Each outcome needs its own evidence;
 * without it, the outcome is unknown.
 */
enum StepVerdict {

	/**
	 * The action or undo has taken effect.
	 */
	DONE,

	/**
	 * It was refused and has not taken effect.
	 */
	REFUSED,

	/**
	 * The undo found that the step was undone before.
	 */
	ALREADY_UNDONE,

	/**
	 * Another attempt may determine the outcome.
	 */
	UNKNOWN,

	/**
	 * No attempt can determine the outcome: an operator must decide.
	 */
	HALT;

	private static final int FIRST_SUCCESS = 200;

	private static final int FIRST_REDIRECT = 300;

	private static final int FIRST_REFUSAL = 400;

	private static final int FIRST_ERROR = 500;

	/**
	 * By which a service reports a request in progress under the same key.
	 */
	private static final int CONFLICT = 409;

	/**
	 * By which services refuse what is asked of them, and gateways do not.
	 */
	private static final Set<Integer> OF_BUSINESS = Set.of(402, 422);

	/**
	 * Problems that say nothing of the request itself, whatever their status.
	 */
	private static final Set<String> OPEN_PROBLEMS = Set.of("in-progress", "response-not-kept", "saga-halted",
			"caller-required", "token-refused");

	/**
	 * Problems that no other attempt solves.
	 */
	private static final Set<String> FINAL_PROBLEMS = Set.of("key-reused", "action-unknown");

	/**
	 * Judges an attempt of an action.
	 */
	static StepVerdict ofAction(Attempt attempt) {
		return judge(attempt, false);
	}

	/**
	 * Judges an attempt of an undo. A refusal of it needs an operator.
	 */
	static StepVerdict ofUndo(Attempt attempt) {
		return judge(attempt, true);
	}

	private static StepVerdict judge(Attempt attempt, boolean undo) {
		Answer answer = attempt.calls().lastAnswer();
		if (attempt.failure() == null) {
			return (attempt.calls().open() == 0) ? DONE : UNKNOWN;
		}
		if (answer != null && attempt.isOfResponse() && FINAL_PROBLEMS.contains(String.valueOf(answer.problem()))) {
			return HALT;
		}
		if (attempt.failure() instanceof StepRefusedException) {
			return attempt.isSilent() ? UNKNOWN : REFUSED;
		}
		if (undo && answer != null && attempt.isOfResponse() && isAlreadyUndone(attempt, answer)) {
			return ALREADY_UNDONE;
		}
		return isRefused(attempt, answer, undo) ? REFUSED : UNKNOWN;
	}

	private static boolean isAlreadyUndone(Attempt attempt, Answer answer) {
		return attempt.rules().undoneBy().contains(answer.status()) && attempt.calls().made() == 1 && !answer.page()
				&& isClosed(answer) && !mayBeInProgress(attempt, answer);
	}

	private static boolean isRefused(Attempt attempt, @Nullable Answer answer, boolean undo) {
		boolean named = !undo && attempt.rules().isRefusedWhen(attempt.failure());
		if (answer == null) {
			// Of a client that is not observed, which has answered by an exception.
			return named && attempt.calls().made() == 0;
		}
		if (!named && !attempt.isOfResponse()) {
			return false;
		}
		int status = answer.status();
		boolean refuses = (!undo && attempt.rules().refusedBy().contains(status))
				|| (status >= FIRST_REFUSAL && Answer.isFinal(status))
				|| (named && status >= FIRST_SUCCESS && status < FIRST_REDIRECT);
		return refuses && status < FIRST_ERROR && attempt.calls().made() == 1 && isClosed(answer)
				&& !(undo && answer.page()) && isOfFirstAttempt(attempt, answer, named);
	}

	/**
	 * A refusal says nothing of earlier attempts without an answer, unless the service
	 * would have given them the same one.
	 */
	private static boolean isOfFirstAttempt(Attempt attempt, Answer answer, boolean named) {
		if (answer.replayed() || answer.evidence() == Evidence.RECEIPT) {
			return true;
		}
		if (!answer.honoursKeys()) {
			return attempt.isOnly();
		}
		boolean business = named || OF_BUSINESS.contains(answer.status())
				|| attempt.rules().refusedBy().contains(answer.status());
		return (attempt.isOnly() || (business && !answer.page())) && !mayBeInProgress(attempt, answer);
	}

	/**
	 * Returns whether a conflict may be that with another request under the same key,
	 * which a gateway has sent twice. It has ended when the call is repeated.
	 */
	private static boolean mayBeInProgress(Attempt attempt, Answer answer) {
		return answer.status() == CONFLICT && attempt.isOnly() && !answer.replayed()
				&& answer.evidence() != Evidence.RECEIPT;
	}

	private static boolean isClosed(Answer answer) {
		return answer.evidence().isCredible() && !OPEN_PROBLEMS.contains(String.valueOf(answer.problem()));
	}

	/**
	 * What came back from an attempt.
	 *
	 * @param failure what the action or undo has thrown, or {@code null}
	 * @param status the status of the response among the causes of the failure, or
	 * {@code null}
	 * @param calls the calls that were observed
	 * @param first whether it is certain that there was no attempt before
	 * @param rules what the step names
	 */
	record Attempt(@Nullable Throwable failure, @Nullable Integer status, Calls calls, boolean first, Rules rules) {

		/**
		 * Whether the failure tells of the last response that was observed.
		 */
		boolean isOfResponse() {
			Answer answer = this.calls.lastAnswer();
			return answer != null && this.status != null && answer.status() == this.status;
		}

		/**
		 * Whether the last call that was observed has got no response: then the
		 * application cannot know.
		 */
		boolean isSilent() {
			return this.calls.open() > 0 && this.calls.lastAnswer() == null;
		}

		boolean isOnly() {
			return this.first && this.calls.attempts() == 1;
		}

	}

	/**
	 * What a step names.
	 *
	 * @param refusedBy the statuses by which the service refuses the action, besides
	 * those after which a retry would end in the same way
	 * @param refusedWhen the exceptions by which it refuses the action
	 * @param undoneBy the statuses by which the service reports that the step was undone
	 * before
	 */
	record Rules(Set<Integer> refusedBy, Set<Class<? extends Throwable>> refusedWhen, Set<Integer> undoneBy) {

		private static final int DEEPEST = 20;

		boolean isRefusedWhen(@Nullable Throwable failure) {
			Throwable cause = failure;
			for (int i = 0; i < DEEPEST && cause != null; i++) {
				Throwable each = cause;
				if (this.refusedWhen.stream().anyMatch((type) -> type.isInstance(each))) {
					return true;
				}
				cause = cause.getCause();
			}
			return false;
		}

	}

}
