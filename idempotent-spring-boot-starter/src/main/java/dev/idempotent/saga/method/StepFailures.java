package dev.idempotent.saga.method;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * What an exception proves without knowledge of a protocol: nothing, unless it is a
 * {@link StepRefusedException}.
 */
public final class StepFailures implements FailureClassifier {

	@Override
	public Verdict ofCall(Throwable failure, IdempotencyContext context, boolean first) {
		return (failure instanceof StepRefusedException) ? Verdict.REFUSED : Verdict.UNKNOWN;
	}

}
