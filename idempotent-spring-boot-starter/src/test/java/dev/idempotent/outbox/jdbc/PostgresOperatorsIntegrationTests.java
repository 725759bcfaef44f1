package dev.idempotent.outbox.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for the operations of operators on PostgreSQL.
 */
class PostgresOperatorsIntegrationTests extends OperatorsContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static HikariDataSource pool;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
	}

	@AfterAll
	static void close() {
		pool.close();
	}

	@Override
	OperatorTables create() {
		return OperatorTables.create(pool, "postgresql", "ops_");
	}

	@Override
	String database() {
		return "POSTGRESQL";
	}

}
