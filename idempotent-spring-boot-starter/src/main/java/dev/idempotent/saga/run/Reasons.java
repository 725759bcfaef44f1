package dev.idempotent.saga.run;

import dev.idempotent.saga.StepRefusedException;

/**
 * The reasons that are stored for operators: types of exceptions, whose messages could
 * contain personal data, or the texts of refusals, which are written to be stored.
 */
final class Reasons {

	private Reasons() {
	}

	static String of(Throwable failure) {
		String text = (failure instanceof StepRefusedException) ? failure.getMessage() : null;
		return (text != null && !text.isBlank()) ? text : failure.getClass().getName();
	}

}
