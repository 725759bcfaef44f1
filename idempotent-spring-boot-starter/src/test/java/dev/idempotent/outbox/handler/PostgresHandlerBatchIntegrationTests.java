package dev.idempotent.outbox.handler;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The rules on PostgreSQL.
 */
class PostgresHandlerBatchIntegrationTests extends HandlerBatchRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

}
