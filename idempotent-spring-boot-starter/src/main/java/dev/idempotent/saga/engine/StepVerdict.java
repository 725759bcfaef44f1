package dev.idempotent.saga.engine;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyContext.Evidence;
import dev.idempotent.saga.StepRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt of an action or undo proves. Each outcome needs its own evidence;
 * without evidence, the outcome is unknown.
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
	 * Statuses by which services also report that a request with the same key is in
	 * progress, which may be an earlier attempt, or the same request if a gateway has
	 * sent it twice. A repeated status of this kind does not prove that the request has
	 * ended.
	 */
	private static final Set<Integer> OF_PROGRESS = Set.of(408, 409, 422, 423, 425, 429);

	/**
	 * Statuses by which services refuse a request, and gateways do not.
	 */
	private static final Set<Integer> OF_BUSINESS = Set.of(402);

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
		if (answer != null && FINAL_PROBLEMS.contains(String.valueOf(answer.problem()))) {
			return HALT;
		}
		if (undo && answer != null && isAlreadyUndone(attempt, answer)) {
			return ALREADY_UNDONE;
		}
		if (attempt.lacksEarlierCall() || !isRefused(attempt, answer, undo)) {
			return UNKNOWN;
		}
		// A refused undo gets another key, under which an earlier attempt could be
		// repeated.
		return (undo && answer == null && !attempt.first()) ? HALT : REFUSED;
	}

	private static boolean isAlreadyUndone(Attempt attempt, Answer answer) {
		boolean reported = answer.named() ? isRefusal(answer.status())
				: attempt.isOfResponse() && attempt.rules().undoneBy().contains(answer.status());
		return reported && attempt.calls().made() == 1 && !answer.page() && isClosed(answer)
				&& !mayBeInProgress(answer);
	}

	private static boolean isRefused(Attempt attempt, @Nullable Answer answer, boolean undo) {
		boolean stated = attempt.failure() instanceof StepRefusedException;
		boolean named = stated || (!undo && attempt.rules().isRefusedWhen(attempt.failure()));
		if (answer == null) {
			// The response to the call of a client that is not observed and that reports
			// responses by exceptions.
			return named && attempt.calls().made() == 0;
		}
		boolean recognized = !undo && answer.named();
		if (!named && !recognized && !attempt.isOfResponse()) {
			return false;
		}
		int status = answer.status();
		boolean success = status >= FIRST_SUCCESS && status < FIRST_REDIRECT;
		boolean refuses = success ? named || recognized
				: isRefusal(status) && (recognized || Answer.isFinal(status) || isNamedStatus(attempt, status, undo));
		// An application that states a refusal knows the success of its other calls.
		boolean settled = attempt.calls().made() == 1
				|| (stated && attempt.calls().open() == 0 && (success || !attempt.effective()));
		return refuses && settled && isClosed(answer) && !(undo && answer.page()) && !mayBeInProgress(answer)
				&& isOfEachAttempt(attempt, answer, (named && !undo) || isNamedStatus(attempt, status, undo));
	}

	private static boolean isRefusal(int status) {
		return status >= FIRST_REFUSAL && status < FIRST_ERROR;
	}

	private static boolean isNamedStatus(Attempt attempt, int status, boolean undo) {
		return !undo && attempt.rules().refusedBy().contains(status);
	}

	/**
	 * A refusal says nothing of earlier attempts without an answer, unless the service
	 * would have given them the same one.
	 */
	private static boolean isOfEachAttempt(Attempt attempt, Answer answer, boolean named) {
		if (answer.replayed() || answer.evidence() == Evidence.RECEIPT || attempt.isOnly()) {
			return true;
		}
		boolean business = named || answer.named() || OF_BUSINESS.contains(answer.status());
		return answer.honoursKeys() && business && !answer.page();
	}

	/**
	 * Returns whether a response may report another request under the same key, whose
	 * outcome is open. A receipt for the request, a replay and what the step recognizes
	 * do not.
	 */
	static boolean mayBeInProgress(Answer answer) {
		return OF_PROGRESS.contains(answer.status()) && !answer.named() && !answer.replayed()
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
	 * @param effective whether one of the calls may have an effect
	 * @param repeatsCall whether an attempt before may have made a call, which this one
	 * was to repeat
	 */
	record Attempt(@Nullable Throwable failure, @Nullable Integer status, Calls calls, boolean first, Rules rules,
			boolean effective, boolean repeatsCall) {

		/**
		 * Whether this attempt has made no call, so that its failure says nothing of the
		 * call of an attempt before.
		 */
		boolean lacksEarlierCall() {
			return this.repeatsCall && this.calls.made() == 0;
		}

		/**
		 * Whether the failure tells of the last response that was observed.
		 */
		boolean isOfResponse() {
			Answer answer = this.calls.lastAnswer();
			return answer != null && this.status != null && answer.status() == this.status;
		}

		/**
		 * Whether there was no attempt before, and this one has repeated no call, but for
		 * look-ups after which the application states a refusal.
		 */
		boolean isOnly() {
			return this.first && (this.calls.attempts() == this.calls.made()
					|| (!this.effective && this.failure instanceof StepRefusedException));
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
