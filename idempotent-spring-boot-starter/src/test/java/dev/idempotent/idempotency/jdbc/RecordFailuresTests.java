package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.UncategorizedSQLException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RecordFailures}, with the codes that the databases state.
 */
class RecordFailuresTests {

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 55P03, 0", "MySQL, 40001, 1205", "MariaDB, HY000, 1205", "H2, HYT00, 50200" })
	void knowAWaitInVain(String database, String state, int code) {
		assertThat(RecordFailures.translate("", new SQLException(database, state, code)))
			.isExactlyInstanceOf(CannotAcquireLockException.class);
	}

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 40P01, 0", "PostgreSQL, 40001, 0", "MySQL, 40001, 1213", "MariaDB, HY000, 1020",
			"H2, 40001, 40001", "H2, 90131, 90131" })
	void knowWhatMayGoWellWhenTriedAgain(String database, String state, int code) {
		assertThat(RecordFailures.translate("", new SQLException(database, state, code)))
			.isExactlyInstanceOf(PessimisticLockingFailureException.class)
			.isInstanceOf(ConcurrencyFailureException.class);
	}

	@Test
	void leaveEverythingElseToSpring() {
		assertThat(RecordFailures.translate("", new SQLTransientConnectionException("away")))
			.isInstanceOf(TransientDataAccessResourceException.class);
		assertThat(RecordFailures.translate("", new SQLException("whatever")))
			.isInstanceOf(UncategorizedSQLException.class);
	}

	/**
	 * A connection that can tell the name of its database and nothing else.
	 */
	static Connection connectionOf(String product) {
		DatabaseMetaData metaData = answering(DatabaseMetaData.class, product);
		return answering(Connection.class, metaData);
	}

	private static <T> T answering(Class<T> type, Object answer) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> answer));
	}

}
