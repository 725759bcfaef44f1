package dev.idempotent.autoconfigure.saga;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.client.CallFailure;
import dev.idempotent.saga.run.FailureClassifier;

/**
 * Classifies exceptions, including those of Spring's HTTP clients.
 */
final class HttpStepFailures extends FailureClassifier {

	@Override
	public Verdict ofCall(Throwable failure, IdempotencyContext context, boolean first, Set<Integer> refusals) {
		return switch (CallFailure.of(failure, context, first, refusals)) {
			case REFUSED -> Verdict.REFUSED;
			case KEY_REUSED -> Verdict.HALT;
			case UNKNOWN -> super.ofCall(failure, context, first, refusals);
		};
	}

	@Override
	public String describe(Throwable failure) {
		String response = CallFailure.describe(failure);
		String reason = super.describe(failure);
		return (response != null) ? reason + " (" + response + ")" : reason;
	}

}
