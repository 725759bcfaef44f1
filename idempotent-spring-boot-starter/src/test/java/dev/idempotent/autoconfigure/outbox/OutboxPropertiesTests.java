package dev.idempotent.autoconfigure.outbox;

import java.util.Map;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Limits of the properties of the outbox.
 */
class OutboxPropertiesTests {

	@ParameterizedTest
	@ValueSource(strings = { "/shop", "shop", "https://shop.example/orders", "urn:shop" })
	void acceptsAUriReferenceAsSource(String source) {
		assertThat(withSource(source).source()).isEqualTo(source);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "%%", "a shop" })
	void refusesAnyOtherSource(String source) {
		assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> withSource(source))
			.withMessage("idempotent.outbox.source is not a URI reference.");
	}

	private static OutboxProperties withSource(String source) {
		return new OutboxProperties(true, null, OutboxProperties.Order.KEY, source, DatabaseInitializationMode.EMBEDDED,
				OutboxProperties.DEFAULT_TABLE_PREFIX, null, OutboxProperties.OnDead.SKIP, Map.of());
	}

}
