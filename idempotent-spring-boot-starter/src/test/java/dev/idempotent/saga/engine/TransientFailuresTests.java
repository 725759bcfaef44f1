package dev.idempotent.saga.engine;

import java.sql.SQLException;

import org.hibernate.StaleObjectStateException;
import org.hibernate.StaleStateException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

	@Test
	void doNotIncludeAViolatedConstraint() {
		assertThat(TransientFailures.include(failure("23505", 0))).isFalse();
	}

	private static Throwable failure(String state, int code) {
		return new UncategorizedSQLException("work", "update t", new SQLException("failed", state, code));
	}

}
