package dev.idempotent.transaction;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The situations on PostgreSQL with a pool whose connections do not commit by themselves,
 * so that what is written after a commit is rolled back.
 */
class PooledObservedTransactionIntegrationTests extends AbstractPostgresTransactionTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase other;

	@BeforeAll
	static void create() {
		database = create(pool(), postgres.connect());
		other = create(pool(), postgres.connect());
	}

	private static HikariDataSource pool() {
		HikariDataSource pool = postgres.connect();
		pool.setAutoCommit(false);
		return pool;
	}

	@AfterAll
	static void close() {
		database.close();
		other.close();
	}

	@Override
	ObservedDatabase database() {
		return database;
	}

	@Override
	ObservedDatabase other() {
		return other;
	}

}
