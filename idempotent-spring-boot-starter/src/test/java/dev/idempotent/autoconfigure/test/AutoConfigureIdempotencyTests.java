package dev.idempotent.autoconfigure.test;

import java.util.Collection;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.test.OutboxEvents;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AutoConfigureIdempotency}.
 */
@SpringJUnitConfig
@AutoConfigureIdempotency
class AutoConfigureIdempotencyTests {

	private final TransactionTemplate transaction = new TransactionTemplate(
			new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:auto-configure-idempotency")));

	@Autowired
	private Environment environment;

	@Autowired
	private IdempotencyStore store;

	@Autowired
	private Outbox outbox;

	@Autowired
	private OutboxEvents events;

	@Test
	void storesKeysInMemory() {
		assertThat(this.store).isInstanceOf(InMemoryIdempotencyStore.class);
	}

	@Test
	void switchesRelayAndStreamsOff() {
		assertThat(this.environment.getProperty("idempotent.outbox.relay.enabled")).isEqualTo("false");
		assertThat(this.environment.getProperty("idempotent.stream.enabled")).isEqualTo("false");
	}

	@RepeatedTest(2)
	void recordsTheEventsOfEachTestAlone() {
		this.transaction.executeWithoutResult((status) -> this.outbox.append(OutboxEvent.of("one", "payload")));
		assertThat(this.events).hasSize(1);
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Outbox outbox() {
			return new Outbox() {

				@Override
				public void append(Collection<OutboxEvent> events) {
					// Keeps nothing.
				}

				@Override
				public void requireTransaction() {
					// Needs none.
				}

			};
		}

	}

}
