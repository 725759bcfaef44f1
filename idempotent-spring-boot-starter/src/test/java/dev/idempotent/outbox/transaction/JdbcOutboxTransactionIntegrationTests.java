package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The rules with a {@code JdbcTransactionManager} on PostgreSQL.
 */
class JdbcOutboxTransactionIntegrationTests extends SavepointRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		List<String> all = new ArrayList<>(properties);
		all.addAll(postgres.properties());
		return OutboxApplication.start(all);
	}

}
