package dev.idempotent.autoconfigure;

import java.util.List;

import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.web.ResponsePolicy;
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
 * @param storedStatuses Statuses below 500, and ranges of them, that are stored. Others
 * leave the key free.
 */
@ConfigurationProperties("idempotent.web")
record IdempotencyWebProperties(@DefaultValue("Idempotency-Key") String header,
		@DefaultValue("1MB") DataSize maxRequestBody, @DefaultValue("1MB") DataSize maxResponseBody, @DefaultValue( {
				"100-400", "402", "404-407", "410-424", "426-428", "430-499" }) List<String> storedStatuses){

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

	ResponsePolicy responsePolicy(OnError onError) {
		try {
			return new ResponsePolicy(this.storedStatuses, onError, (int) this.maxResponseBody.toBytes());
		}
		catch (IllegalArgumentException ex) {
			throw new IdempotencyConfigurationException("idempotent.web.stored-statuses: " + ex.getMessage() + ".",
					"List statuses below 500 and ranges of them, such as 200-399, 404.", ex);
		}
	}

}
