package dev.idempotent.idempotency.client;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestClientResponseException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/**
 * What the exception of a call by one of Spring's HTTP clients tells of its response.
 */
public final class CallFailure {

	/**
	 * A type that is short enough for operators, and contains no data.
	 */
	private static final Pattern TYPE = Pattern.compile("[\\w.~:/#=+-]{1,200}");

	private static final String NO_TYPE = "about:blank";

	private static final List<String> CLIENTS = List.of("org.springframework.web.client.", "jdk.internal.net.http.",
			"sun.net.www.protocol.http", "org.apache.hc.", "okhttp3.");

	private static final int MAX_DEPTH = 20;

	private CallFailure() {
	}

	/**
	 * Returns the status of the response among the causes of an exception.
	 * @param failure the exception
	 * @return the HTTP status, or {@code null} if there is no response
	 */
	public static @Nullable Integer statusOf(Throwable failure) {
		RestClientResponseException response = cause(failure, RestClientResponseException.class);
		return (response != null) ? (Integer) response.getStatusCode().value() : null;
	}

	/**
	 * Returns whether an exception comes from a call: the exception or one of its causes
	 * is a failure of a connection, or was thrown within an HTTP client, as by a status
	 * handler.
	 * @param failure the exception
	 * @return whether a request was made, or tried
	 */
	public static boolean isOfClient(Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; i < MAX_DEPTH && cause != null; i++) {
			if (cause instanceof RestClientException || cause instanceof IOException
					|| Arrays.stream(cause.getStackTrace()).anyMatch(CallFailure::isOfClient)) {
				return true;
			}
			cause = cause.getCause();
		}
		return false;
	}

	private static boolean isOfClient(StackTraceElement frame) {
		return CLIENTS.stream().anyMatch(frame.getClassName()::startsWith);
	}

	/**
	 * Describes the response among the causes of an exception: its status and, if it is a
	 * problem detail, its type.
	 * @param failure the exception
	 * @return the description, or {@code null} if there is no response
	 */
	public static @Nullable String describe(Throwable failure) {
		RestClientResponseException response = cause(failure, RestClientResponseException.class);
		if (response == null) {
			return null;
		}
		String type = textOf(problemOf(response), "type");
		return response.getStatusCode().value()
				+ ((type != null && !type.equals(NO_TYPE) && TYPE.matcher(type).matches()) ? " " + type : "");
	}

	/**
	 * Returns why the service has refused, in its own words: the detail of the problem
	 * detail among the causes of an exception, or its title.
	 * @param failure the exception
	 * @return the words, which can contain what the request contained; {@code null} if
	 * there are none
	 */
	public static @Nullable String wordsOf(Throwable failure) {
		RestClientResponseException response = cause(failure, RestClientResponseException.class);
		JsonNode problem = (response != null) ? problemOf(response) : MissingNode.getInstance();
		String detail = textOf(problem, "detail");
		return (detail != null) ? detail : textOf(problem, "title");
	}

	/**
	 * Reads a problem detail. Other bodies may repeat what the request contained.
	 */
	private static JsonNode problemOf(RestClientResponseException response) {
		HttpHeaders headers = response.getResponseHeaders();
		String type = (headers != null) ? headers.getFirst(HttpHeaders.CONTENT_TYPE) : null;
		if (type == null || !type.regionMatches(true, 0, MediaType.APPLICATION_PROBLEM_JSON_VALUE, 0,
				MediaType.APPLICATION_PROBLEM_JSON_VALUE.length())) {
			return MissingNode.getInstance();
		}
		try {
			return JsonMapper.shared().readTree(response.getResponseBodyAsByteArray());
		}
		catch (JacksonException ex) {
			return MissingNode.getInstance();
		}
	}

	private static @Nullable String textOf(JsonNode problem, String member) {
		JsonNode value = problem.path(member);
		return (value.isString() && !value.stringValue().isBlank()) ? value.stringValue() : null;
	}

	private static <T extends Throwable> @Nullable T cause(Throwable failure, Class<T> type) {
		Throwable cause = failure;
		for (int i = 0; i < MAX_DEPTH && cause != null; i++) {
			if (type.isInstance(cause)) {
				return type.cast(cause);
			}
			cause = cause.getCause();
		}
		return null;
	}

}
