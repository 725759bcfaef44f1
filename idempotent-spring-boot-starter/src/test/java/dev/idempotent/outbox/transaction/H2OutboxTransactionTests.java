package dev.idempotent.outbox.transaction;

import java.util.List;

import dev.idempotent.outbox.OutboxApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The rules with a {@code JdbcTransactionManager} on H2.
 */
class H2OutboxTransactionTests extends SavepointRules {

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		return OutboxApplication.start(properties);
	}

}
