package dev.idempotent.jdbc;

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
 * Tests for {@link Statements}, with the error codes of the databases.
 */
class StatementsTests {

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 55P03, 0", "MySQL, 40001, 1205", "MariaDB, HY000, 1205", "H2, HYT00, 50200" })
	void translateALockTimeout(String database, String state, int code) {
		assertThat(Statements.translate("", new SQLException(database, state, code)))
			.isExactlyInstanceOf(CannotAcquireLockException.class);
	}

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, 40P01, 0", "PostgreSQL, 40001, 0", "MySQL, 40001, 1213", "MariaDB, HY000, 1020",
			"H2, 40001, 40001", "H2, 90131, 90131" })
	void translateAConflict(String database, String state, int code) {
		assertThat(Statements.translate("", new SQLException(database, state, code)))
			.isExactlyInstanceOf(PessimisticLockingFailureException.class)
			.isInstanceOf(ConcurrencyFailureException.class);
	}

	@Test
	void leaveOtherFailuresToSpring() {
		assertThat(Statements.translate("", new SQLTransientConnectionException("away")))
			.isInstanceOf(TransientDataAccessResourceException.class);
		assertThat(Statements.translate("", new SQLException("whatever")))
			.isInstanceOf(UncategorizedSQLException.class);
	}

}
