package dev.idempotent.transaction;

import java.util.UUID;

import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The situations on H2.
 */
class H2ObservedTransactionTests extends AbstractLockedTransactionTests {

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase database;

	@SuppressWarnings("NullAway.Init")
	private static ObservedDatabase other;

	@BeforeAll
	static void create() {
		database = h2();
		other = h2();
	}

	private static ObservedDatabase h2() {
		JdbcDataSource connections = new JdbcDataSource();
		connections.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
		return new ObservedDatabase(connections, connections, "select session_id()", "call abort_session(%d)");
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
		return "select count(*) from information_schema.sessions where blocker_id is not null";
	}

}
