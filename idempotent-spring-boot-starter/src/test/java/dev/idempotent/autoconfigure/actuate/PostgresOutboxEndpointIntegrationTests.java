package dev.idempotent.autoconfigure.actuate;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The endpoint on PostgreSQL.
 */
class PostgresOutboxEndpointIntegrationTests extends OutboxOperationsRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

}
