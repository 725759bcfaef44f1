package dev.idempotent.idempotency.client;

import java.util.Set;
import java.util.regex.Matcher;
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
	 * A type that is short enough for operators.
	 */
	private static final Pattern TYPE = Pattern.compile("\"type\"\\s*+:\\s*+\"([\\w.~:/#=+-]{1,200}+)\"");

	/**
	 * Each service can have a base of its own for its types.
	 */
	private static final Pattern KEY_REUSED_TYPE = type("key-reused");

	/**
	 * Problems that say nothing of the request itself, whatever their status.
	 */
	private static final Pattern OPEN_TYPE = type(
			"(in-progress|response-not-kept|saga-halted|caller-required|token-refused)");

	private static final int MAX_DEPTH = 20;

	/**
	 * Classifies the failure of a run. A client error is a refusal only if nothing else
	 * can have happened: it is the observed response to the only call of the run, and
	 * either that call was made for the first time or the response is a replay.
	 * @param failure the exception, or one with the {@link RestClientResponseException}
	 * among its causes
	 * @param run the context that was bound during the calls
	 * @param firstAttempt whether no earlier run has made calls under this key
	 * @param refusals the statuses by which the service refuses, besides those after
	 * which a retry would end in the same way
	 * @return the class
	 */
	public static CallFailure of(Throwable failure, IdempotencyContext run, boolean firstAttempt,
			Set<Integer> refusals) {
		RestClientResponseException response = responseOf(failure);
		if (response == null || !response.getStatusCode().is4xxClientError()) {
			return UNKNOWN;
		}
		int status = response.getStatusCode().value();
		String problem = problemOf(response);
		if (status == HttpStatus.UNPROCESSABLE_CONTENT.value() && KEY_REUSED_TYPE.matcher(problem).find()) {
			return KEY_REUSED;
		}
		boolean refuses = PendingCall.isAnswer(status)
				|| (refusals.contains(status) && !OPEN_TYPE.matcher(problem).find());
		return (refuses && isOnlyAnswer(status, run.calls(), firstAttempt)) ? REFUSED : UNKNOWN;
	}

	private static boolean isOnlyAnswer(int status, Calls calls, boolean firstAttempt) {
		Answer answer = calls.lastAnswer();
		return answer != null && answer.status() == status && calls.made() == 1
				&& ((firstAttempt && calls.attempts() == 1) || answer.replayed());
	}

	/**
	 * Describes the response among the causes of an exception: its status and, if it is a
	 * problem detail, its type.
	 * @param failure the exception
	 * @return the description, or {@code null} if there is no response
	 */
	public static @Nullable String describe(Throwable failure) {
		RestClientResponseException response = responseOf(failure);
		if (response == null) {
			return null;
		}
		Matcher type = TYPE.matcher(problemOf(response));
		return response.getStatusCode().value() + (type.find() ? " " + type.group(1) : "");
	}

	/**
	 * Returns the body of a problem detail. Other bodies may repeat what the request
	 * contained.
	 */
	private static String problemOf(RestClientResponseException response) {
		HttpHeaders headers = response.getResponseHeaders();
		String type = (headers != null) ? headers.getFirst(HttpHeaders.CONTENT_TYPE) : null;
		return (type != null && type.regionMatches(true, 0, MediaType.APPLICATION_PROBLEM_JSON_VALUE, 0,
				MediaType.APPLICATION_PROBLEM_JSON_VALUE.length())) ? response.getResponseBodyAsString() : "";
	}

	/**
	 * Matches the type of a problem detail. Not in a string of JSON, where the quotes
	 * would be escaped.
	 */
	private static Pattern type(String name) {
		return Pattern.compile("\"type\"\\s*+:\\s*+\"[^\"\\\\]*[/#:=]" + name + "\"");
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
