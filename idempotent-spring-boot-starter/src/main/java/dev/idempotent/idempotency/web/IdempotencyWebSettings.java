package dev.idempotent.idempotency.web;

import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.CommitOn;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.OnPending;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The settings of idempotent operations over HTTP.
 *
 * @param namespace the application that the keys belong to
 * @param header the request header that carries the key
 * @param requiredFor requests that need a key although their handler is not annotated, as
 * method and path pattern such as {@code POST /api/**}
 * @param maxRequestBody the longest request body that is accepted, in bytes
 * @param maxResponseBody the longest response body that is stored, in bytes
 * @param maxBufferedResponse the longest response body that is buffered until its
 * transaction has committed, in bytes; at least {@code maxResponseBody}
 * @param storedStatuses the statuses below 500 that are stored, such as {@code 404}, and
 * ranges of them, such as {@code 200-399}
 * @param commitOn which responses commit the work of a handler that has returned
 * @param storedHeaders the only response headers that are stored; empty for all
 * @param excludedHeaders response headers that are not stored
 * @param redactors redact what is stored, in this order
 * @param onError whether exceptions and statuses from 500 on are stored
 * @param waitTimeout how long a duplicate waits under {@link OnPending#WAIT}
 * @param problemBaseUri the URI that the types of problem details begin with
 * @param problemRenderer renders problems, or {@code null} for problem details
 */
public record IdempotencyWebSettings(String namespace, String header, List<String> requiredFor, int maxRequestBody,
		int maxResponseBody, int maxBufferedResponse, List<String> storedStatuses, CommitOn commitOn,
		List<String> storedHeaders, List<String> excludedHeaders, List<ResponseRedactor> redactors, OnError onError,
		Duration waitTimeout, String problemBaseUri, @Nullable ProblemRenderer problemRenderer) {

	public IdempotencyWebSettings {
		requiredFor = List.copyOf(requiredFor);
		maxBufferedResponse = Math.max(maxBufferedResponse, maxResponseBody);
		// Boot splits a comma-separated property, but not a default value.
		storedStatuses = List.of(StringUtils.commaDelimitedListToStringArray(String.join(",", storedStatuses)));
		storedHeaders = List.copyOf(storedHeaders);
		excludedHeaders = List.copyOf(excludedHeaders);
		redactors = List.copyOf(redactors);
	}

}
