package dev.idempotent.saga.method;

import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * Classifies exceptions without knowledge of a protocol: only a
 * {@link StepRefusedException} proves something, unless the last call that was observed
 * has got no response. Then the application cannot know.
 */
public final class StepFailures implements FailureClassifier {

	@Override
	public Verdict ofCall(Throwable failure, Attempt attempt) {
		Calls calls = attempt.context().calls();
		boolean silent = calls.open() > 0 && calls.lastAnswer() == null;
		return (failure instanceof StepRefusedException && !silent) ? Verdict.REFUSED : Verdict.UNKNOWN;
	}

}
