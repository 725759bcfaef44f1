package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.web.IdempotencyWebComponents;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.ResponseRedactor;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Properties of idempotent web handlers.
 *
 * @param header Name of the request header that carries the idempotency key.
 * @param requiredFor Requests that need a key although their handler is not annotated, as
 * method and path pattern such as "POST /api/**".
 * @param maxRequestBody Maximum size of a request body with a key. Larger requests get
 * 413.
 * @param maxResponseBody Maximum size of a stored response body. Larger responses are
 * sent and cannot be replayed.
 * @param maxBufferedResponse Maximum size of a response body that is buffered until its
 * transaction has committed, under Guarantee.TRANSACTION. For a larger response the
 * transaction is rolled back and the client gets 500.
 * @param storedStatuses Statuses below 500, and ranges of them, that are stored. After
 * any other status the key is released.
 * @param storedHeaders Response headers that are stored and replayed, besides
 * Content-Type and the Location of a redirect. By default all that the application sets,
 * except those that are never stored.
 * @param excludedHeaders Response headers that are not stored. Not together with
 * stored-headers.
 * @param waitTimeout How long a duplicate waits for the first request under
 * OnPending.WAIT.
 * @param problemBaseUri Absolute URI that the "type" of problem details begins with, such
 * as where your documentation describes them. The name of the problem is appended.
 */
@ConfigurationProperties("idempotent.web")
record IdempotencyWebProperties(@DefaultValue("Idempotency-Key") String header, @DefaultValue List<String> requiredFor,
		@DefaultValue("1MB") DataSize maxRequestBody, @DefaultValue("1MB") DataSize maxResponseBody,
		@DefaultValue("16MB") DataSize maxBufferedResponse,
		@DefaultValue("100-400,402,404-407,410-411,413-424,426-427,430-499") List<String> storedStatuses,
		@DefaultValue List<String> storedHeaders, @DefaultValue List<String> excludedHeaders,
		@DefaultValue("10s") Duration waitTimeout,
		@DefaultValue("urn:problem-type:idempotency:") String problemBaseUri) {

	private static final DataSize MOST = DataSize.ofMegabytes(512);

	/**
	 * A token in RFC 9110.
	 */
	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	IdempotencyWebProperties {
		if (!TOKEN.matcher(header).matches()) {
			throw new IdempotentConfigurationException(
					"idempotent.web.header is '%s', which is not a valid header name.".formatted(header),
					"Set it to the name of the header that carries the key, or omit it.", null);
		}
		IdempotencyProperties.requireDuration("idempotent.web.wait-timeout", waitTimeout);
		requireInMemory("idempotent.web.max-request-body", maxRequestBody);
		requireInMemory("idempotent.web.max-response-body", maxResponseBody);
		requireInMemory("idempotent.web.max-buffered-response", maxBufferedResponse);
		// Fails before any server starts.
		IdempotencyWebComponents.check(new IdempotencyWebSettings("", header, requiredFor, 0, 0, 0, storedStatuses,
				storedHeaders, excludedHeaders, List.of(), OnError.RELEASE, waitTimeout, problemBaseUri));
	}

	private static void requireInMemory(String property, DataSize size) {
		if (size.isNegative() || size.compareTo(MOST) > 0) {
			throw new IdempotentConfigurationException(
					"%s is %s, but bodies are buffered in memory.".formatted(property, size),
					"Set %s to a size between 0 and %dMB.".formatted(property, MOST.toMegabytes()), null);
		}
	}

	IdempotencyWebSettings settings(String namespace, OnError onError, List<ResponseRedactor> redactors) {
		return new IdempotencyWebSettings(namespace, this.header, this.requiredFor, (int) this.maxRequestBody.toBytes(),
				(int) this.maxResponseBody.toBytes(), (int) this.maxBufferedResponse.toBytes(), this.storedStatuses,
				this.storedHeaders, this.excludedHeaders, redactors, onError, this.waitTimeout, this.problemBaseUri);
	}

}
