package dev.idempotent.saga.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.jdbc.StatementCount;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the statements on PostgreSQL.
 */
class SagaStoreStatementsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private final StatementCount count = new StatementCount();

	private final NewSaga saga = SagaSamples.saga("checkout", SagaStatus.EXECUTING);

	private final SagaOwner owner = this.saga.owner();

	private final List<JournalEntry> entries = List.of(SagaSamples.done("hold", 1), SagaSamples.acting("charge", 2));

	private DataSource counting;

	private JdbcSagaStore store;

	private TransactionTemplate transactions;

	@BeforeEach
	void connect() {
		HikariDataSource pool = postgres.connect();
		SagaRows.create(pool, "postgresql", "saga_statements_").clear();
		this.counting = new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				return SagaStoreStatementsIntegrationTests.this.count.of(super.getConnection());
			}

		};
		this.store = new JdbcSagaStore(new OwnTransactions(this.counting), "saga_statements_", LEASE,
				Duration.ofMinutes(10));
		this.transactions = new TransactionTemplate(new DataSourceTransactionManager(this.counting));
	}

	@Test
	void takesOneStatementForEachOperationOfAnOwner() {
		assertThat(statements(() -> this.store.insert(this.saga, this.entries))).isOne();
		assertThat(statements(() -> this.store.write(this.owner, SagaStatus.EXECUTING, 3, this.entries, LEASE)))
			.isOne();
		assertThat(statements(() -> this.store.find(this.saga.id()) != null)).isOne();
		assertThat(statements(() -> this.store.release(this.owner, this.entries, LEASE))).isOne();
		assertThat(statements(() -> this.store.change(this.owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, null, null, LEASE), this.entries)))
			.isOne();
	}

	@Test
	void takesTwoStatementsForAStepInATransaction() {
		assertThat(statements(() -> this.transactions.execute((status) -> this.store.insertInTransaction(this.saga)
				&& this.store.writeInTransaction(this.owner, 1, this.entries, Duration.ZERO))))
			.isEqualTo(2);
		assertThat(statements(() -> this.transactions
			.execute((status) -> this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 2, LEASE)
					&& this.store.writeInTransaction(this.owner, 2, this.entries, LEASE))))
			.isEqualTo(2);
	}

	/**
	 * PostgreSQL then writes no index either: the update is heap-only.
	 */
	@Test
	void updatesItsRowOnceInAStepWithoutAChangeOfAnIndex() {
		this.store.insert(this.saga, this.entries);
		Map<String, Object> updates = Objects.requireNonNull(this.transactions.execute((status) -> {
			assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 3, LEASE)).isTrue();
			assertThat(this.store.writeInTransaction(this.owner, 3, this.entries, Duration.ZERO)).isTrue();
			return new JdbcTemplate(this.counting).queryForMap("select n_tup_upd, n_tup_hot_upd "
					+ "from pg_stat_xact_user_tables where relname = 'saga_statements_instance'");
		}));
		assertThat(updates).containsEntry("n_tup_upd", 1L).containsEntry("n_tup_hot_upd", 1L);
	}

	@Test
	void takesTwoStatementsToTakeOverOneSaga() {
		this.store.insert(this.saga, this.entries);
		this.store.release(this.owner, List.of(), Duration.ZERO);
		assertThat(statements(() -> this.store.takeOver(this.saga.id(), "second", LEASE) != null)).isEqualTo(2);
	}

	private int statements(Supplier<Boolean> work) {
		this.count.take();
		assertThat(work.get()).isTrue();
		return this.count.take();
	}

}
