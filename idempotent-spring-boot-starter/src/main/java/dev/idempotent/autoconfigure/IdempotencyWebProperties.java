package dev.idempotent.autoconfigure;

import dev.idempotent.idempotency.IdempotencyConfigurationException;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * What holds for idempotent operations over HTTP.
 *
 * @param header Name of the request header that carries the idempotency key.
 * @param maxRequestBody Longest request body that is taken with a key. Longer ones are
 * answered 413.
 * @param maxResponseBody Longest response body that is stored. Longer ones reach the
 * client and cannot be replayed.
 */
@ConfigurationProperties("idempotent.web")
record IdempotencyWebProperties(@DefaultValue("Idempotency-Key") String header,
		@DefaultValue("1MB") DataSize maxRequestBody, @DefaultValue("1MB") DataSize maxResponseBody) {

	private static final DataSize MOST = DataSize.ofMegabytes(512);

	IdempotencyWebProperties {
		if (header.isBlank()) {
			throw new IdempotencyConfigurationException("idempotent.web.header is blank.",
					"Name the header that carries the key, or leave the property out.", null);
		}
		requireInMemory("idempotent.web.max-request-body", maxRequestBody);
		requireInMemory("idempotent.web.max-response-body", maxResponseBody);
	}

	private static void requireInMemory(String property, DataSize size) {
		if (size.isNegative() || size.compareTo(MOST) > 0) {
			throw new IdempotencyConfigurationException(
					"%s is %s; bodies are held in memory.".formatted(property, size),
					"Set %s to a size between 0 and %dMB.".formatted(property, MOST.toMegabytes()), null);
		}
	}

}
