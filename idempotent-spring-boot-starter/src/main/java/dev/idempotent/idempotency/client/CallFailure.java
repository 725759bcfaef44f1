package dev.idempotent.idempotency.client;

import java.util.regex.Pattern;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
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

	/**
	 * Each service can have a base of its own for its types. Not in a string of JSON,
	 * where the quotes would be escaped.
	 */
	private static final Pattern KEY_REUSED_TYPE = Pattern.compile("\"type\"\\s*+:\\s*+\"[^\"\\\\]*[/#:=]key-reused\"");

	private static final int MAX_DEPTH = 20;

	/**
	 * Classifies the failure of a run. A client error is a refusal only if nothing else
	 * can have happened: it is the observed response to the only call of the run, and
	 * either that call was made for the first time or the response is a replay.
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
		int status = response.getStatusCode().value();
		return (PendingCall.isAnswer(status) && isOnlyAnswer(status, run.calls(), firstAttempt)) ? REFUSED : UNKNOWN;
	}

	private static boolean isOnlyAnswer(int status, Calls calls, boolean firstAttempt) {
		Answer answer = calls.lastAnswer();
		return answer != null && answer.status() == status && calls.made() == 1
				&& ((firstAttempt && calls.attempts() == 1) || answer.replayed());
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
