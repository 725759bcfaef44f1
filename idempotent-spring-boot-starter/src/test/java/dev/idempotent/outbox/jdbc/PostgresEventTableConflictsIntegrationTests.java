package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for steps that conflict with another transaction, on PostgreSQL.
 */
class PostgresEventTableConflictsIntegrationTests extends AbstractEventTableConflictsTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static Fixture fixture;

	private static JdbcTemplate observer;

	@BeforeAll
	static void connect() {
		HikariDataSource usual = postgres.connect();
		observer = new JdbcTemplate(usual);
		HikariDataSource strict = postgres.connect();
		strict.setAutoCommit(false);
		strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		strict.setConnectionInitSql("set lock_timeout = '2s'");
		fixture = Fixture.create(usual, "postgresql", "conflicts_").through(strict);
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	@BeforeEach
	@Override
	void empty() {
		// The pool of the tables does not commit by itself.
		observer.update("truncate conflicts_event, conflicts_delayed, conflicts_dead, conflicts_control");
	}

	@Test
	void repeatsASettlementAfterALockTimeoutOfThePool() throws SQLException {
		append("one");
		List<ClaimedEvent> claims = claim();
		try (Connection connection = fixture.dataSource().getConnection();
				Statement rival = connection.createStatement()) {
			rival.executeUpdate("update conflicts_event set last_error = 'seen' where type = 'one'");
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> table().delete(claims));
			await().until(this::someoneWaits);
			rival.execute("select pg_sleep(2.1)");
			connection.commit();
			assertThat(settled.join()).isOne();
		}
	}

	@Test
	void settlesOnAConnectionThatIsAlreadyInATransaction() {
		append("one");
		assertThat(fixture.through(new TestingPool(fixture.dataSource())).table().delete(claim())).isOne();
	}

	@Override
	boolean someoneWaits() {
		return Boolean.TRUE.equals(observer.queryForObject("select exists(select from pg_stat_activity "
				+ "where wait_event_type = 'Lock' and query like '%conflicts_%')", Boolean.class));
	}

	@Override
	void survive(Statement rival) throws SQLException {
		rival.execute("set local deadlock_timeout = '1min'");
		rival.execute("set local lock_timeout = 0");
	}

	/**
	 * A pool that tests each connection with a query, which begins a transaction.
	 */
	private static final class TestingPool extends DelegatingDataSource {

		private TestingPool(DataSource pool) {
			super(pool);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			try (Statement statement = connection.createStatement()) {
				statement.execute("select 1");
			}
			return connection;
		}

	}

}
