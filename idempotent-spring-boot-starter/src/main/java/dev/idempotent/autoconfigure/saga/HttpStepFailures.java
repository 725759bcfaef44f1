package dev.idempotent.autoconfigure.saga;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.client.CallFailure;
import dev.idempotent.saga.method.StepFailures;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * Classifies exceptions, including those of Spring's HTTP clients.
 */
final class HttpStepFailures implements FailureClassifier {

	private final FailureClassifier others = new StepFailures();

	@Override
	public Verdict ofCall(Throwable failure, IdempotencyContext context, boolean first) {
		return switch (CallFailure.of(failure, context, first)) {
			case REFUSED -> Verdict.REFUSED;
			case KEY_REUSED -> Verdict.HALT;
			case UNKNOWN -> this.others.ofCall(failure, context, first);
		};
	}

}
