package dev.idempotent.autoconfigure.test;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.test.OutboxEvents;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A test calls handlers itself.
 */
@SpringJUnitConfig
@AutoConfigureIdempotency
@TestPropertySource(properties = { "idempotent.namespace=shop", "spring.datasource.generate-unique-name=true" })
@DirtiesContext
class RunHandlersTests {

	@Autowired
	private PlatformTransactionManager manager;

	@Autowired
	private Outbox outbox;

	@Autowired
	private OutboxEvents events;

	@Autowired
	private Application application;

	@Test
	void inTheOrderOfTheEventsOnItsOwnThread() {
		inTransaction(() -> append("one", "1"));
		inTransaction(() -> append("two", "2"));
		inTransaction(() -> append("one", "3"));
		assertThat(this.application.handled).isEmpty();
		assertThat(this.events.payloads(String.class)).containsExactly("1", "2", "3");
		assertThat(this.events.runHandlers()).isEqualTo(5);
		assertThat(this.application.handled).containsExactly("one \"1\"", "two \"2\"", "one \"3\"", "three \"of 1\"",
				"three \"of 3\"");
		assertThat(this.application.threads).containsOnly(Thread.currentThread());
		assertThat(this.events.runHandlers()).isZero();
		inTransaction(() -> append("fails", "4"));
		assertThatIllegalStateException().isThrownBy(this.events::runHandlers)
			.withMessage("An event was not handled by handlers:fails; the log shows why")
			.havingCause()
			.withMessage("never");
		inTransaction(() -> assertThatIllegalStateException().isThrownBy(this.events::runHandlers)
			.withMessageContaining("TestTransaction"));
	}

	private void append(String type, String payload) {
		this.outbox.append(OutboxEvent.of(type, payload).toTopic("handlers"));
	}

	private void inTransaction(Runnable work) {
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> work.run());
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionManagerCustomizationAutoConfiguration.class, JacksonAutoConfiguration.class })
	@ImportOutbox
	static class Application {

		private final List<String> handled = new ArrayList<>();

		private final List<Thread> threads = new ArrayList<>();

		private final Outbox outbox;

		Application(Outbox outbox) {
			this.outbox = outbox;
		}

		@OutboxHandler(type = "one", name = "one")
		void one(String payload) {
			handled("one " + payload);
			this.outbox.append(OutboxEvent.of("three", "of " + payload.charAt(1)).toTopic("handlers"));
		}

		@OutboxHandler(type = "two", name = "two", transactional = false)
		void two(String payload) {
			handled("two " + payload);
		}

		@OutboxHandler(type = "three", name = "three")
		void three(String payload) {
			handled("three " + payload);
		}

		@OutboxHandler(type = "fails", name = "fails")
		void fails() {
			throw new IllegalStateException("never");
		}

		private void handled(String what) {
			this.handled.add(what);
			this.threads.add(Thread.currentThread());
		}

	}

}
