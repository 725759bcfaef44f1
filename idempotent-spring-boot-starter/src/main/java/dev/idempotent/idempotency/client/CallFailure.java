package dev.idempotent.idempotency.client;

import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClientResponseException;

/**
 * What a failed call to another service proves about its effect.
 */
public enum CallFailure {

	/**
	 * The service refused the call: it had no effect, and a retry would not have one.
	 */
	REFUSED,

	/**
	 * The service has seen the key with a different request.
	 */
	KEY_REUSED,

	/**
	 * Nothing: the call may have had its effect, or may have it later.
	 */
	UNKNOWN;

	private static final String REPLAYED_HEADER = "Idempotent-Replayed";

	/**
	 * Each service can have a base of its own for its types. Not in a string of JSON,
	 * where the quotes would be escaped.
	 */
	private static final Pattern KEY_REUSED_TYPE = Pattern.compile("\"type\"\\s*+:\\s*+\"[^\"\\\\]*[/#:=]key-reused\"");

	private static final int MAX_DEPTH = 20;

	/**
	 * Classifies the failure of a run. A client error is a refusal if the same request
	 * cannot have succeeded before: it is a replay, or this is the first attempt, and no
	 * call of the run has succeeded or is unanswered.
	 * @param failure the exception, or one with the {@link RestClientResponseException}
	 * among its causes
	 * @param run the context that was bound during the calls
	 * @param firstAttempt whether no earlier run has made calls under this key
	 * @return the class
	 */
	public static CallFailure of(Throwable failure, IdempotencyContext run, boolean firstAttempt) {
		RestClientResponseException response = responseOf(failure);
		if (response == null || !response.getStatusCode().is4xxClientError()) {
			return UNKNOWN;
		}
		if (isKeyReused(response)) {
			return KEY_REUSED;
		}
		return (PendingCall.isAnswer(response.getStatusCode().value())
				&& isDefinite(response, run.calls(), firstAttempt)) ? REFUSED : UNKNOWN;
	}

	private static boolean isDefinite(RestClientResponseException response, Calls calls, boolean firstAttempt) {
		HttpHeaders headers = response.getResponseHeaders();
		boolean replayed = headers != null && headers.containsHeader(REPLAYED_HEADER);
		return calls.succeeded() == 0 && ((firstAttempt && calls.unanswered() == 0) || (replayed && calls.made() <= 1));
	}

	private static boolean isKeyReused(RestClientResponseException response) {
		return response.getStatusCode().value() == HttpStatus.UNPROCESSABLE_CONTENT.value()
				&& isProblem(response.getResponseHeaders())
				&& KEY_REUSED_TYPE.matcher(response.getResponseBodyAsString()).find();
	}

	/**
	 * Other bodies may repeat what the request contained.
	 */
	private static boolean isProblem(@Nullable HttpHeaders headers) {
		String type = (headers != null) ? headers.getFirst(HttpHeaders.CONTENT_TYPE) : null;
		return type != null && type.regionMatches(true, 0, MediaType.APPLICATION_PROBLEM_JSON_VALUE, 0,
				MediaType.APPLICATION_PROBLEM_JSON_VALUE.length());
	}

	private static @Nullable RestClientResponseException responseOf(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; i < MAX_DEPTH && cause != null; i++) {
			if (cause instanceof RestClientResponseException response) {
				return response;
			}
			cause = cause.getCause();
		}
		return null;
	}

}
