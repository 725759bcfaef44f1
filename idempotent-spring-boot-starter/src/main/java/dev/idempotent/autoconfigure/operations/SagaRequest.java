package dev.idempotent.autoconfigure.operations;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;

/**
 * Reads the parameters of the actuator's endpoint {@code saga}.
 */
final class SagaRequest {

	/**
	 * What the table keeps of a note.
	 */
	private static final int MAX_NOTE = 1000;

	private SagaRequest() {
	}

	static IdempotencyKey id(String id) {
		return OperatorParameters.digest(id, "id of a saga",
				"Take it from the log, from GET /actuator/saga/list, or use 'list'");
	}

	/**
	 * Reads a status.
	 * @return {@code null} if it is omitted
	 */
	static @Nullable SagaStatus status(@Nullable String status) {
		if (status == null) {
			return null;
		}
		return Arrays.stream(SagaStatus.values())
			.filter((each) -> each.name().equals(status.toUpperCase(Locale.ROOT)))
			.findFirst()
			.orElseThrow(() -> RefusedOperationException.invalid("The parameter 'status' is not the status of a saga",
					"Set it to one of "
							+ Arrays.stream(SagaStatus.values()).map(SagaStatus::name).collect(Collectors.joining(", "))
							+ ", or omit it for sagas that are open or halted"));
	}

	static String step(@Nullable String step) {
		if (step == null || step.isBlank()) {
			throw RefusedOperationException.invalid("The request has no 'step'",
					"Set 'step' to the name of a step as GET /actuator/saga/{id} shows it");
		}
		return step;
	}

	static String note(@Nullable String note) {
		if (note == null || note.isBlank()) {
			throw RefusedOperationException.invalid("The request has no 'note'",
					"Set 'note' to how the step was undone by hand, without personal data");
		}
		if (note.length() > MAX_NOTE) {
			throw RefusedOperationException.invalid("The 'note' is too long",
					"Shorten it to at most " + MAX_NOTE + " characters");
		}
		return note;
	}

	/**
	 * Refuses what would have no effect.
	 */
	static void requireNeither(@Nullable String step, @Nullable String note) {
		if (step != null || note != null) {
			throw RefusedOperationException.invalid(
					"A retry concerns the whole saga and takes neither 'step' nor 'note'",
					"Omit them, or skip the step with POST /actuator/saga/{id}/skip");
		}
	}

}
