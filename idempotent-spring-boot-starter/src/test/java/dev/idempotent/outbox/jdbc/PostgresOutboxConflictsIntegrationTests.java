package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for settlements that conflict with another transaction, on PostgreSQL.
 */
class PostgresOutboxConflictsIntegrationTests extends OutboxConflictsContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static StoreOnTables tables;

	private static JdbcTemplate observer;

	@BeforeAll
	static void connect() {
		observer = new JdbcTemplate(postgres.connect());
		StoreOnTables.create(postgres.connect(), "postgresql", "conflicts_");
		HikariDataSource strict = postgres.connect();
		strict.setAutoCommit(false);
		strict.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		strict.setConnectionInitSql("set lock_timeout = '2s'");
		tables = StoreOnTables.create(strict, "postgresql", "conflicts_");
	}

	@Override
	protected StoreOnTables tested() {
		return tables;
	}

	@Test
	void repeatsASettlementAfterALockTimeoutOfThePool() throws SQLException {
		List<LeasedEvent> held = appendLeased("one");
		try (Connection connection = tested().dataSource().getConnection();
				Statement rival = connection.createStatement()) {
			rival.executeUpdate("update conflicts_event set last_error = 'seen' where type = 'one'");
			CompletableFuture<Integer> settled = CompletableFuture.supplyAsync(() -> store().delivered(held));
			await().until(this::someoneWaits);
			rival.execute("select pg_sleep(2.1)");
			connection.commit();
			assertThat(settled.join()).isOne();
		}
	}

	@Test
	void settlesOnAConnectionThatIsAlreadyInATransaction() {
		List<LeasedEvent> held = appendLeased("tested");
		StoreOnTables tested = StoreOnTables.create(new TestingPool(tables.dataSource()), "postgresql", "conflicts_");
		assertThat(tested.store().delivered(held)).isOne();
	}

	@Override
	boolean someoneWaits() {
		return Boolean.TRUE.equals(observer.queryForObject(
				"select exists(select from pg_stat_activity where wait_event_type = 'Lock' and query like '%conflicts_%')",
				Boolean.class));
	}

	@Override
	void survive(Statement rival) throws SQLException {
		rival.execute("set local deadlock_timeout = '20s'");
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
