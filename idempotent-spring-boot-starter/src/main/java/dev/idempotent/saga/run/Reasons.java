package dev.idempotent.saga.run;

import dev.idempotent.saga.StepRefusedException;

/**
 * The reasons that are stored for operators: the text of a refusal, otherwise the type of
 * the exception. Messages of other exceptions could contain personal data.
 */
final class Reasons {

	private Reasons() {
	}

	static String of(Throwable failure) {
		String text = (failure instanceof StepRefusedException) ? failure.getMessage() : null;
		return (text != null && !text.isBlank()) ? text : failure.getClass().getName();
	}

}
