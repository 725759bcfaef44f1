package dev.idempotent.outbox.transaction;

import java.util.List;

import dev.idempotent.outbox.OutboxApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The promises with a {@code JdbcTransactionManager} on H2.
 */
class H2OutboxTransactionTests extends AbstractSavepointTests {

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		return OutboxApplication.start(properties);
	}

}
