package dev.idempotent.autoconfigure.saga;

import dev.idempotent.idempotency.client.CallFailure;
import dev.idempotent.saga.method.StepFailures;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * Classifies exceptions, including those of Spring's HTTP clients.
 */
final class HttpStepFailures implements FailureClassifier {

	private final FailureClassifier others = new StepFailures();

	@Override
	public Verdict ofCall(Throwable failure, Attempt attempt) {
		return switch (CallFailure.of(failure, attempt.context(), attempt.first(), attempt.refusals())) {
			case REFUSED -> Verdict.REFUSED;
			case KEY_REUSED -> Verdict.HALT;
			case UNKNOWN -> this.others.ofCall(failure, attempt);
		};
	}

	@Override
	public String describe(Throwable failure) {
		String response = CallFailure.describe(failure);
		String reason = this.others.describe(failure);
		return (response != null) ? reason + " (" + response + ")" : reason;
	}

}
