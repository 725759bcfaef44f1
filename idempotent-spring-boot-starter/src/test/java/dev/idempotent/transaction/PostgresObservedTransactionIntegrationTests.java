package dev.idempotent.transaction;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The situations on PostgreSQL.
 */
class PostgresObservedTransactionIntegrationTests extends AbstractPostgresTransactionTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase other;

	@BeforeAll
	static void create() {
		database = create(postgres.connect(), postgres.connect());
		other = create(postgres.connect(), postgres.connect());
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
