package dev.idempotent.saga.engine;

import java.sql.SQLException;

import org.hibernate.StaleObjectStateException;
import org.hibernate.StaleStateException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.UncategorizedSQLException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which failures of a database another attempt may mend.
 */
class TransientFailuresTests {

	@ParameterizedTest
	@CsvSource({ "25006, 0", "HY000, 1290", "90097, 90097" })
	void includeADatabaseThatHasBecomeReadOnly(String state, int code) {
		assertThat(TransientFailures.include(failure(state, code))).isTrue();
	}

	@Test
	void includeAnOptimisticLockThatHibernateAloneReports() {
		assertThat(TransientFailures.include(new StaleStateException("stale"))).isTrue();
		assertThat(TransientFailures.include(new StaleObjectStateException("Order", 1))).isTrue();
	}

	/**
	 * PostgreSQL refuses each statement that was prepared before its table got another
	 * column, until it is prepared again.
	 */
	@Test
	void includeAPlanThatNoLongerFitsItsTable() {
		assertThat(TransientFailures.include(failure("0A000", 0))).isTrue();
	}

	/**
	 * Connections that PostgreSQL has ended or that are exhausted, prepared statements of
	 * a pool that shares connections, and its internal errors.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "08006", "25P03", "25P04", "26000", "42P05", "53300", "55006", "55P03", "57014", "57P01",
			"57P05", "58030", "72000", "40001", "40P01", "XX000", "HV00N" })
	void includeWhatAnotherAttemptOnPostgresMayMend(String state) {
		assertThat(TransientFailures.include(failure(state, 0))).isTrue();
		assertThat(TransientFailures.include(new IllegalStateException(new SQLException("failed", state)))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "22001", "23505", "23514", "25P01", "42501", "42P01", "44000", "55000", "P0001" })
	void doNotIncludeWhatPostgresRefuses(String state) {
		assertThat(TransientFailures.include(failure(state, 0))).isFalse();
	}

	private static Throwable failure(String state, int code) {
		return new UncategorizedSQLException("work", "update t", new SQLException("failed", state, code));
	}

}
