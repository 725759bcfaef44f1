package dev.idempotent.idempotency.client;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
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

	private static final String KEY_REUSED_TYPE = "urn:problem-type:idempotency:key-reused";

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
				&& response.getResponseBodyAsString().contains(KEY_REUSED_TYPE);
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
