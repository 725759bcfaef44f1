package dev.idempotent.outbox.jdbc;

import javax.sql.DataSource;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for {@link JdbcOrderedStore} on PostgreSQL.
 */
class PostgresOrderedStoreIntegrationTests extends JdbcOrderedStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static DataSource pool;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
	}

	@Override
	StoreOnTables create(String name) {
		return StoreOnTables.create(pool, "postgresql", name + "_outbox_");
	}

}
