package dev.idempotent.outbox.transaction;

import java.time.Duration;
import java.time.Instant;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for the times at which events can be available.
 */
class AvailableAtTests {

	private final Instant later = Instant.now().plus(Duration.ofDays(1));

	@Test
	void refusesATimeForAnEventThatItsKeyOrders() {
		OutboxApplication.with().withPropertyValues("idempotent.outbox.order=key").run((context) -> {
			OutboxEvent event = OutboxEvent.of("reminder", 1).withKey("k").availableAt(this.later);
			assertThatIllegalArgumentException().isThrownBy(() -> append(context, event))
				.withMessageContaining("make it unordered(), or omit availableAt");
			append(context, event.unordered());
			assertThat(delayed(context)).isOne();
		});
	}

	@Test
	void acceptsATimeForAnEventWithAKeyIfKeysDoNotOrderEvents() {
		OutboxApplication.with().withPropertyValues("idempotent.outbox.order=none").run((context) -> {
			append(context, OutboxEvent.of("reminder", 1).withKey("k").availableAt(this.later));
			assertThat(delayed(context)).isOne();
		});
	}

	@Test
	void refusesATimeThatADatabaseMightNotBeAbleToStore() {
		OutboxApplication.with().run((context) -> {
			OutboxEvent event = OutboxEvent.of("reminder", 1);
			append(context, event.availableAt(Instant.now().plus(Duration.ofDays(36_499))));
			assertThatIllegalArgumentException().isThrownBy(() -> append(context, event.availableAt(Instant.MAX)))
				.withMessageContaining("36500 days");
			assertThat(delayed(context)).isOne();
		});
	}

	private static void append(ApplicationContext context, OutboxEvent event) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> context.getBean(Outbox.class).append(event));
	}

	private static int delayed(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("select id from outbox_delayed", Long.class).size();
	}

}
