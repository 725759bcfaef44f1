package dev.idempotent.saga.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaAdministration.Page;
import dev.idempotent.saga.engine.SagaSamples;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.SagaStore.StatusChange;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static dev.idempotent.saga.engine.SagaSamples.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rows that statements read when many sagas are inserted into empty tables, before
 * the database has new statistics, and that have ended, are halted or leased. By then,
 * the driver has prepared each statement on the server, which has planned it for an empty
 * table.
 */
@Tag("long")
class PostgresSagaBurstIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final int IDLE = 12;

	private static final int BURST = 20_000;

	private static final long FEW = 60;

	private static final List<String> SERVED = List.of("checkout", "refund");

	private SagaRows rows;

	private JdbcSagaStore store;

	private JdbcSagaAdministration administration;

	private TransactionTemplate transactions;

	private RowReads reads;

	@BeforeEach
	void fillTablesThatWereIdle() {
		HikariDataSource pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		this.rows = SagaRows.create(pool, "postgresql", "b" + UUID.randomUUID().toString().replace('-', '_') + "_");
		this.store = new JdbcSagaStore(new OwnTransactions(pool), this.rows.tables().prefix(), LEASE,
				Duration.ofMinutes(10));
		this.administration = new JdbcSagaAdministration(new OwnTransactions(pool), this.rows.tables().prefix(),
				SagaSamples.RETENTION);
		this.transactions = new TransactionTemplate(new DataSourceTransactionManager(pool));
		this.reads = new RowReads(pool);
		for (String table : List.of(this.rows.tables().instance(), this.rows.tables().step())) {
			this.rows.template().execute("alter table " + table + " set (autovacuum_enabled = false)");
			this.rows.template().execute("vacuum " + table);
		}
		for (int i = 0; i < IDLE; i++) {
			useEveryVerb(Long.MAX_VALUE / 4);
			this.rows.clear();
		}
		this.rows.burst(BURST);
	}

	@Test
	void readsOnlyTheGivenSagas() {
		useEveryVerb(FEW);
	}

	@Test
	void readsNoDueSagasThatAreNotServed() {
		this.rows.unserved(BURST);
		List<StoredSaga> taken = read(FEW, "idle take-over beside unserved sagas",
				() -> this.store.takeOverDue(SERVED, "second", LEASE, 10));
		assertThat(taken).isEmpty();
		NewSaga saga = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		this.store.insert(saga, List.of(SagaSamples.acting("hold", 1)));
		this.store.release(owner(saga), List.of(), Duration.ZERO);
		assertThat(
				read(FEW, "take-over behind unserved sagas", () -> this.store.takeOverDue(SERVED, "second", LEASE, 10)))
			.hasSize(1);
	}

	private void useEveryVerb(long most) {
		NewSaga saga = SagaSamples.saga("checkout", SagaStatus.EXECUTING);
		NewSaga second = SagaSamples.saga("refund", SagaStatus.EXECUTING);
		List<JournalEntry> done = List.of(SagaSamples.done("hold", 1));
		read(most, "insert", () -> this.store.insert(saga, List.of(SagaSamples.acting("hold", 1))));
		read(most, "insert in a transaction",
				() -> this.transactions.execute((status) -> this.store.insertInTransaction(second)));
		read(most, "write", () -> this.store.write(owner(saga), SagaStatus.EXECUTING, 2, done, LEASE));
		read(most, "step in a transaction",
				() -> this.transactions
					.execute((status) -> this.store.lockInTransaction(owner(second), SagaStatus.EXECUTING, 2, LEASE)
							&& this.store.writeInTransaction(owner(second), 2, done, LEASE)));
		read(most, "renewal", () -> {
			this.store.renew(List.of(owner(saga), owner(second)), LEASE);
			return true;
		});
		read(most, "look-up", () -> this.store.find(saga.id()));
		read(most, "release", () -> this.store.release(owner(saga), done, Duration.ZERO));
		read(most, "take-over of one", () -> this.store.takeOver(saga.id(), "second", LEASE));
		this.store.release(owner(second), List.of(), Duration.ZERO);
		List<StoredSaga> taken = read(most, "take-over of due ones",
				() -> this.store.takeOverDue(SERVED, "second", LEASE, 10));
		assertThat(taken).hasSize(1);
		read(most, "idle take-over", () -> this.store.takeOverDue(SERVED, "second", LEASE, 10));
		SagaOwner owner = new SagaOwner(saga.id(), 2);
		read(most, "halt", () -> this.store.change(owner,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.HALTED, null, "unreadable", LEASE), List.of()));
		read(most, "inspection", () -> this.administration.inspect(saga.id()));
		read(most, "list", () -> list(null, null, null));
		String halted = list(SagaStatus.HALTED, null, null).next();
		read(most, "list of halted ones", () -> list(SagaStatus.HALTED, null, halted));
		String ended = list(SagaStatus.COMPENSATED, null, null).next();
		read(most, "list of ended ones", () -> list(SagaStatus.COMPENSATED, null, ended));
		read(most, "list of halted ones of a name", () -> list(SagaStatus.HALTED, "checkout", halted));
		read(most, "list of a rare name", () -> list(SagaStatus.COMPENSATED, "refund", null));
		read(most, "count", () -> this.administration.count(SERVED, 10));
		read(most, "retry", () -> this.administration.retry(saga.id()));
		this.store.takeOver(saga.id(), "third", LEASE);
		SagaOwner third = new SagaOwner(saga.id(), 4);
		read(most, "end", () -> this.store.change(third,
				new StatusChange(SagaStatus.EXECUTING, SagaStatus.COMPLETED, null, null, Duration.ofMillis(1)), done));
		assertThat(Objects.requireNonNull(this.store.find(saga.id())).status()).isEqualTo(SagaStatus.COMPLETED);
		this.rows.end(2);
		read(most, "sweep", () -> this.administration.sweeper(LEASE).sweep());
	}

	private Page list(@Nullable SagaStatus status, @Nullable String name, @Nullable String after) {
		return this.administration.list(status, name, after, 10);
	}

	private static SagaOwner owner(NewSaga saga) {
		return saga.owner();
	}

	private <T> T read(long most, String verb, Supplier<T> work) {
		return this.reads.atMost(most, this.rows.tables().instance(), "one " + verb,
				() -> this.reads.atMost(most, this.rows.tables().step(), "one " + verb, work));
	}

}
