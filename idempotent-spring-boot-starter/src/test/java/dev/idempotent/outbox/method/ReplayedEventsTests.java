package dev.idempotent.outbox.method;

import java.util.List;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A replayed call appends no event.
 */
class ReplayedEventsTests {

	@Test
	void appendNothing() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(
				List.of("idempotent.outbox.relay.enabled=false", "idempotent.jdbc.initialize-schema=always"),
				Idempotency.class, Payments.class)) {
			Payments payments = context.getBean(Payments.class);
			for (int i = 0; i < 3; i++) {
				assertThat(payments.payUnderTransaction("p-1")).isEqualTo("paid p-1");
				assertThat(payments.payUnderLease("p-1")).isEqualTo("paid p-1");
			}
			assertThat(context.getBean(JdbcClient.class)
				.sql("select type from outbox_event order by id")
				.query(String.class)
				.list()).containsExactly("paid.transaction", "paid.lease");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportMethods
	static class Idempotency {

	}

	static class Payments {

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "payments.pay-under-transaction")
		@TransactionalOutbox(type = "paid.transaction")
		String payUnderTransaction(String id) {
			return "paid " + id;
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.LEASE, name = "payments.pay-under-lease")
		@TransactionalOutbox(type = "paid.lease")
		String payUnderLease(String id) {
			return "paid " + id;
		}

	}

}
