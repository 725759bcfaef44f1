package dev.idempotent.autoconfigure.operations;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/**
 * Reads the parameters of the actuator's endpoint {@code saga}.
 */
final class SagaRequest {

	private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

	private static final int DEFAULT_LIMIT = 50;

	private static final int MAX_LIMIT = 500;

	/**
	 * What the table keeps of a note.
	 */
	private static final int MAX_NOTE = 1000;

	private SagaRequest() {
	}

	static IdempotencyKey id(String id) {
		if (!DIGEST.matcher(id).matches()) {
			throw invalid("The path has no id of a saga: 64 lower-case hexadecimal digits",
					"Take it from the log, from GET /actuator/saga/list, or use 'list'");
		}
		return new IdempotencyKey(id);
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
			.orElseThrow(() -> invalid("The parameter 'status' is not the status of a saga",
					"Set it to one of "
							+ Arrays.stream(SagaStatus.values()).map(SagaStatus::name).collect(Collectors.joining(", "))
							+ ", or omit it for sagas that are open or halted"));
	}

	/**
	 * Refuses an empty name, which may be the result of an unset variable.
	 */
	static @Nullable String name(@Nullable String name) {
		if (name != null && name.isBlank()) {
			throw invalid("The parameter 'name' is empty", "Set it or omit it");
		}
		return name;
	}

	static int limit(@Nullable String limit) {
		try {
			int number = (limit != null) ? Integer.parseInt(limit) : DEFAULT_LIMIT;
			if (number >= 1 && number <= MAX_LIMIT) {
				return number;
			}
		}
		catch (NumberFormatException ex) {
			// Reported below.
		}
		throw invalid("The parameter 'limit' is not a valid number",
				"Specify a number of at least 1 and at most " + MAX_LIMIT);
	}

	static String step(@Nullable String step) {
		if (step == null || step.isBlank()) {
			throw invalid("The request has no 'step'",
					"Set 'step' to the name of a step as GET /actuator/saga/{id} shows it");
		}
		return step;
	}

	static String note(@Nullable String note) {
		if (note == null || note.isBlank()) {
			throw invalid("The request has no 'note'",
					"Set 'note' to how the step was undone by hand, without personal data");
		}
		if (note.length() > MAX_NOTE) {
			throw invalid("The 'note' is too long", "Shorten it to at most " + MAX_NOTE + " characters");
		}
		return note;
	}

	/**
	 * Refuses what would have no effect.
	 */
	static void requireNeither(@Nullable String step, @Nullable String note) {
		if (step != null || note != null) {
			throw invalid("A retry concerns the whole saga and takes neither 'step' nor 'note'",
					"Omit them, or skip the step with POST /actuator/saga/{id}/skip");
		}
	}

	static RefusedOperationException invalid(String problem, String action) {
		return new RefusedOperationException(WebEndpointResponse.STATUS_BAD_REQUEST, problem, action);
	}

}
