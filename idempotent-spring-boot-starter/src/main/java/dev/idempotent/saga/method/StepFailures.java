package dev.idempotent.saga.method;

import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * Classifies exceptions without knowledge of a protocol: only a
 * {@link StepRefusedException} proves something.
 */
public final class StepFailures implements FailureClassifier {

	@Override
	public Verdict ofCall(Throwable failure, Attempt attempt) {
		return (failure instanceof StepRefusedException) ? Verdict.REFUSED : Verdict.UNKNOWN;
	}

}
