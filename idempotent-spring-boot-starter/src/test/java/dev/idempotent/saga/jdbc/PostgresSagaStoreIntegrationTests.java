package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionException;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcSagaStore} on PostgreSQL.
 */
class PostgresSagaStoreIntegrationTests extends AbstractJdbcSagaStoreTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static SagaRows rows;

	@BeforeAll
	static void createTables() {
		rows = SagaRows.create(postgres.connect(), "postgresql", "saga_contract_");
	}

	@Override
	SagaRows rows() {
		return rows;
	}

	@ParameterizedTest
	@ValueSource(strings = { "on", "off" })
	void leavesThePlannerOfTheTransactionAsItWas(String before) {
		transactions().executeWithoutResult((status) -> {
			rows.template().execute("set local enable_seqscan = " + before);
			this.store.insertInTransaction(this.saga);
			assertThat(this.store.writeInTransaction(this.owner, 1, this.done, LEASE)).isTrue();
			assertThat(rows.template().queryForObject("select current_setting('enable_seqscan')", String.class))
				.isEqualTo(before);
		});
		assertThat(this.store.find(this.saga.id())).isNotNull();
		assertThat(rows.template().queryForObject("select current_setting('enable_seqscan')", String.class))
			.isEqualTo("on");
	}

	@Test
	void refusesAUserWhoMayNotChangeItsRows() {
		JdbcTemplate admin = rows.template();
		admin.execute("create role saga_reader");
		admin.execute("grant select, insert, update, delete on " + rows.tables().instance() + " to saga_reader");
		admin.execute("grant select, insert on " + rows.tables().step() + " to saga_reader");
		try (HikariDataSource pool = postgres.connect()) {
			pool.setConnectionInitSql("set role saga_reader");
			assertThatExceptionOfType(IdempotentConfigurationException.class)
				.isThrownBy(() -> new JdbcSagaStore(new OwnTransactions(pool), rows.tables().prefix(), LEASE,
						Duration.ofMinutes(10))
					.verify())
				.withMessageContaining("may not update or delete rows of the table " + rows.tables().step());
			admin.execute("grant update, delete on " + rows.tables().step() + " to saga_reader");
			admin.execute("grant select, insert, update, delete on " + rows.tables().signal() + " to saga_reader");
			assertThatNoException().isThrownBy(() -> new JdbcSagaStore(new OwnTransactions(pool),
					rows.tables().prefix(), LEASE, Duration.ofMinutes(10))
				.verify());
		}
		finally {
			admin.execute("drop owned by saga_reader");
			admin.execute("drop role saga_reader");
		}
	}

	/**
	 * As for a policy of row level security that lets no row be deleted.
	 */
	@Test
	void keepsTheStepsOfAnEndedSagaThatIsNotDeleted() {
		JdbcTemplate admin = rows.template();
		rows.end(1);
		admin.execute("insert into " + rows.tables().step()
				+ " (saga_id, name, seq, kind, state, begun_at) values ('ended 0', 'hold', 1, 'CALL', 'DONE', now())");
		admin.execute("create function saga_keep() returns trigger language plpgsql as 'begin return null; end'");
		admin.execute("create trigger keep before delete on " + rows.tables().instance()
				+ " for each row execute function saga_keep()");
		try {
			assertThatExceptionOfType(IncorrectUpdateSemanticsDataAccessException.class).isThrownBy(this::sweep);
			assertThat(rows.steps()).isOne();
		}
		finally {
			admin.execute("drop function saga_keep cascade");
		}
	}

	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void doesNotWaitForALockedTable() {
		transactions().executeWithoutResult((status) -> {
			rows.template().execute("lock table " + rows.tables().step());
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> new JdbcSagaStore(new OwnTransactions(rows.dataSource()), rows.tables().prefix(),
						LEASE, Duration.ofMinutes(10))
					.verify())
				.withMessageContaining("locked the table " + rows.tables().step());
		});
	}

	/**
	 * As the transaction of a host does that has crashed.
	 */
	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void freesASagaIfTheTransactionOfItsStepFallsSilent() {
		SagaStore dead = new JdbcSagaStore(new OwnTransactions(rows.dataSource()), rows.tables().prefix(), LEASE,
				Duration.ofMillis(200));
		this.store.insert(this.saga, List.of());
		assertThatExceptionOfType(TransactionException.class)
			.isThrownBy(() -> transactions().executeWithoutResult((status) -> {
				assertThat(dead.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
				// Waits for the lock.
				CompletableFuture.runAsync(() -> transactions().executeWithoutResult(
						(other) -> assertThat(this.store.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE))
							.isTrue()))
					.join();
			}));
	}

	@Test
	void limitsTheWaitsOfAStep() {
		this.store.insert(this.saga, List.of());
		SagaStore steps = new JdbcSagaStore(new OwnTransactions(rows.dataSource()), rows.tables().prefix(), LEASE,
				Duration.ofSeconds(5));
		String limit = "select current_setting('lock_timeout')";
		transactions().executeWithoutResult((status) -> {
			assertThat(steps.lockInTransaction(this.owner, SagaStatus.EXECUTING, 1, LEASE)).isTrue();
			assertThat(rows.template().queryForObject(limit, String.class)).isEqualTo("5s");
		});
		assertThat(rows.template().queryForObject(limit, String.class)).isEqualTo("0");
	}

	@Test
	void limitsTheSilenceOfNoTransactionThatStartsASaga() {
		SagaStore starting = new JdbcSagaStore(new OwnTransactions(rows.dataSource()), rows.tables().prefix(), LEASE,
				Duration.ofMillis(200));
		String limit = "select current_setting('idle_in_transaction_session_timeout')";
		transactions().executeWithoutResult((status) -> {
			assertThat(starting.insertInTransaction(SagaSamples.saga("checkout", SagaStatus.STARTED))).isTrue();
			assertThat(rows.template().queryForObject(limit, String.class)).isEqualTo("0");
		});
	}

	/**
	 * With some settings, a driver sends each statement of a round trip by itself, or
	 * those only that it has often sent.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "preferQueryMode=simple", "preferQueryMode=extendedForPrepared", "prepareThreshold=0",
			"prepareThreshold=1", "stringtype=unspecified", "autosave=always" })
	void worksWithAnyProtocol(String setting) {
		HikariDataSource pool = postgres.connect(postgres.url() + "?" + setting);
		pool.setMaximumPoolSize(1);
		SagaStore sagas = new JdbcSagaStore(new OwnTransactions(pool), rows.tables().prefix(), LEASE,
				Duration.ofMinutes(10));
		assertThat(sagas.insert(this.saga, this.done)).isTrue();
		for (int i = 0; i < 12; i++) {
			assertThat(sagas.find(this.saga.id())).isNotNull();
			assertThat(sagas.insert(this.saga, this.done)).isFalse();
			assertThat(sagas.takeOver(this.saga.id(), "another", LEASE)).isNull();
		}
		assertThat(new JdbcTemplate(pool).queryForObject("select current_setting('enable_seqscan')", String.class))
			.isEqualTo("on");
	}

	@Override
	protected void awaitAWaitingInsert() {
		await().until(() -> rows.template()
			.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
					+ "and query like '%insert into saga_contract%'", Long.class),
				Long.valueOf(1)::equals);
	}

}
