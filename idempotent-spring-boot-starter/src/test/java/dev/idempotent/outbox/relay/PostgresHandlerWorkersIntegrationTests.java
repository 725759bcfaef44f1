package dev.idempotent.outbox.relay;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The rules on PostgreSQL.
 */
class PostgresHandlerWorkersIntegrationTests extends HandlerWorkersRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

}
