package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the start on a database with the tables of an earlier version.
 */
class OutboxOfEarlierVersionTests {

	@ParameterizedTest
	@ValueSource(strings = { "never", "always" })
	void doesNotStartWhereEventsCouldBeAppendedButNotDelivered(String initialization) {
		OutboxApplication.with()
			.withPropertyValues("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=jdbc:h2:mem:earlier-" + initialization
							+ ";INIT=create table if not exists outbox_event (id bigint)",
					"idempotent.outbox.initialize-schema=" + initialization)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("outbox_control"));
	}

}
