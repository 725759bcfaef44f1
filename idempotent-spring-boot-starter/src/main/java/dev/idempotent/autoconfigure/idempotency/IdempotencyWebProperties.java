package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What holds for idempotent operations over HTTP.
 *
 * @param header Name of the request header that carries the idempotency key.
 * @param requiredFor Requests that need a key though their handler is not annotated, as
 * method and path pattern such as "POST /api/**".
 * @param maxRequestBody Longest request body that is taken with a key. Longer ones are
 * answered 413.
 * @param maxResponseBody Longest response body that is stored. Longer ones reach the
 * client and cannot be replayed.
 * @param maxHeldResponse Longest response body that is held until its transaction has
 * committed, under Guarantee.TRANSACTION. Longer ones undo the work and are answered 500.
 * @param storedStatuses Statuses below 500, and ranges of them, that are stored. Others
 * leave the key free.
 * @param waitTimeout How long a duplicate waits for the first request under
 * OnPending.WAIT.
 */
@ConfigurationProperties("idempotent.web")
record IdempotencyWebProperties(@DefaultValue("Idempotency-Key") String header, @DefaultValue List<String> requiredFor,
		@DefaultValue("1MB") DataSize maxRequestBody, @DefaultValue("1MB") DataSize maxResponseBody,
		@DefaultValue("16MB") DataSize maxHeldResponse,
		@DefaultValue("100-400,402,404-407,410-411,413-424,426-427,430-499") List<String> storedStatuses,
		@DefaultValue("10s") Duration waitTimeout) {

	private static final DataSize MOST = DataSize.ofMegabytes(512);

	/**
	 * What RFC 9110 calls a token.
	 */
	private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

	IdempotencyWebProperties {
		if (!TOKEN.matcher(header).matches()) {
			throw new IdempotentConfigurationException(
					"idempotent.web.header is '%s', which no header can be called.".formatted(header),
					"Name the header that carries the key, or leave the property out.", null);
		}
		IdempotencyProperties.requireDuration("idempotent.web.wait-timeout", waitTimeout);
		requireInMemory("idempotent.web.max-request-body", maxRequestBody);
		requireInMemory("idempotent.web.max-response-body", maxResponseBody);
		requireInMemory("idempotent.web.max-held-response", maxHeldResponse);
		// Fails before any server starts.
		new IdempotencyWebSettings("", header, requiredFor, 0, 0, 0, storedStatuses, OnError.RELEASE, waitTimeout);
	}

	private static void requireInMemory(String property, DataSize size) {
		if (size.isNegative() || size.compareTo(MOST) > 0) {
			throw new IdempotentConfigurationException("%s is %s; bodies are held in memory.".formatted(property, size),
					"Set %s to a size between 0 and %dMB.".formatted(property, MOST.toMegabytes()), null);
		}
	}

	IdempotencyWebSettings settings(String namespace, OnError onError) {
		return new IdempotencyWebSettings(namespace, this.header, this.requiredFor, (int) this.maxRequestBody.toBytes(),
				(int) this.maxResponseBody.toBytes(), (int) this.maxHeldResponse.toBytes(), this.storedStatuses,
				onError, this.waitTimeout);
	}

}
