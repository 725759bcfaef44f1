package dev.idempotent.transaction;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The situations on MariaDB.
 */
class MariaDbObservedTransactionIntegrationTests extends AbstractLockedTransactionTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase other;

	@BeforeAll
	static void create() {
		database = mariaDb();
		other = mariaDb();
	}

	private static ObservedDatabase mariaDb() {
		return new ObservedDatabase(connect(), connect(), "select connection_id()", "kill %d");
	}

	private static HikariDataSource connect() {
		return mariaDb.connect(RealMariaDb.URL);
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

	@Override
	String waiting() {
		return RealMariaDb.WAITING;
	}

}
