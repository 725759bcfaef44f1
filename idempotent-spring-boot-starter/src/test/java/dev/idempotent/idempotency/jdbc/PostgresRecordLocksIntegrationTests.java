package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.support.JdbcUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRecords} in transactions of PostgreSQL.
 */
class PostgresRecordLocksIntegrationTests extends RecordLocksContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static RecordTable table;

	@BeforeAll
	static void connect() {
		table = RecordTable.create(postgres.connect(), "postgresql", "locks_record");
	}

	@Override
	RecordTable table() {
		return table;
	}

	@Override
	void waitForLocksTooLong(Connection connection) throws SQLException {
		execute(connection, "set local lock_timeout = '10min'");
	}

	@Override
	void awaitAWaitingTransaction() {
		await().until(() -> table.template()
			.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
					+ "and query like '%locks_record%'", Long.class),
				Long.valueOf(1)::equals);
	}

	@Test
	void usesTheCurrentTimeInAnOldTransaction() throws SQLException {
		assertThat(claimInAnOldTransaction()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void restoresTheLockTimeoutForTheHandler() throws SQLException {
		claim(this.second, "owner", shortTime());
		assertThat(lockTimeout()).isEqualTo("10min");
		this.second.commit();
		assertThat(lockTimeout()).isEqualTo("0");

		waitForLocksTooLong(this.second);
		assertThat(claim(this.second, "rival", shortTime())).isInstanceOf(Claim.Pending.class);
		assertThat(lockTimeout()).isEqualTo("10min");
		assertThat(claim(this.second, "owner", shortTime())).isEqualTo(new Claim.Acquired());
		assertThat(lockTimeout()).isEqualTo("10min");
	}

	@Test
	void restoresTheLockTimeoutAfterATakeover() throws SQLException {
		expire();
		assertThat(claim(this.second, "owner", shortTime())).isEqualTo(new Claim.Acquired());
		assertThat(lockTimeout()).isEqualTo("10min");
	}

	@Test
	void restoresTheLockTimeoutAfterATimeout() throws SQLException {
		claim(this.first, "owner", null);
		Savepoint savepoint = this.second.setSavepoint();
		assertThatExceptionOfType(CannotAcquireLockException.class)
			.isThrownBy(() -> claim(this.second, "rival", shortTime()));
		this.second.rollback(savepoint);
		assertThat(lockTimeout()).isEqualTo("10min");
	}

	@ParameterizedTest
	@ValueSource(ints = { Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE })
	void rejectsAStrictTransactionThatCannotSeeTheClaimant(int isolation) throws SQLException {
		this.second.rollback();
		this.second.setTransactionIsolation(isolation);
		execute(this.second, "select count(*) from locks_record");
		claim(this.first, "owner", null);
		this.first.commit();
		assertThatExceptionOfType(PessimisticLockingFailureException.class)
			.isThrownBy(() -> claim(this.second, "rival", shortTime()))
			.isNotInstanceOf(CannotAcquireLockException.class);
		this.second.rollback();
		assertThat(claim(this.second, "rival", shortTime())).isInstanceOf(Claim.Pending.class);
		this.second.rollback();
		this.second.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
	}

	/**
	 * As that of a host that dies without a word.
	 */
	@Test
	void areFreeIfTheTransactionOfTheirRunFallsSilent() throws SQLException {
		Connection dead = begin();
		this.records.claim(this.records.statements(dead, Duration.ofMillis(200)), this.key, REQUEST, "dead", null,
				MINUTE, MINUTE);
		assertThat(claim(this.second, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
		assertThat(dead.isValid(1)).isFalse();
		JdbcUtils.closeConnection(dead);
	}

	@ParameterizedTest
	@CsvSource({ "0, 5000, 5s", "2min, 5000, 2min", "0, 0, 0" })
	void limitTheSilenceOfATransactionUnlessTheSessionDoes(String before, long limit, String during)
			throws SQLException {
		execute(this.first, "set local idle_in_transaction_session_timeout = '" + before + "'");
		this.records.claim(this.records.statements(this.first, Duration.ofMillis(limit)), this.key, REQUEST, "owner",
				null, MINUTE, MINUTE);
		assertThat(setting(this.first, "idle_in_transaction_session_timeout")).isEqualTo(during);
		this.first.commit();
		assertThat(setting(this.first, "idle_in_transaction_session_timeout")).isEqualTo("0");
	}

	@ParameterizedTest
	@CsvSource({ "0, 5000, 5s", "2min, 5000, 5s", "200ms, 5000, 200ms", "5s, 5000, 5s", "1d, 0, 1d", "0, 0, 0" })
	void limitTheWaitsOfATransactionUnlessTheSessionWaitsLess(String before, long limit, String during)
			throws SQLException {
		execute(this.first, "set local lock_timeout = '" + before + "'");
		this.records.claim(this.records.statements(this.first, Duration.ofMillis(limit)), this.key, REQUEST, "owner",
				null, MINUTE, MINUTE);
		assertThat(setting(this.first, "lock_timeout")).isEqualTo(during);
		this.first.commit();
		assertThat(setting(this.first, "lock_timeout")).isEqualTo("0");
	}

	private String lockTimeout() throws SQLException {
		return setting(this.second, "lock_timeout");
	}

	private static String setting(Connection connection, String name) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet setting = statement.executeQuery("select current_setting('" + name + "')")) {
			setting.next();
			return setting.getString(1);
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

}
