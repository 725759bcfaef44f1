package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.jdbc.JdbcIdempotencyStore.Sweepers;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.ConnectionCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The rows that statements read when many keys are inserted into an empty table, before
 * the database has new statistics. By then, the driver has prepared each statement on the
 * server, which has planned it for an empty table.
 */
class PostgresRecordBurstIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final int IDLE = 12;

	private static final int BURST = 20_000;

	private static final long FEW = 50;

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private RecordTable table;

	private JdbcIdempotencyStore store;

	private RowReads reads;

	@BeforeEach
	void fillATableThatWasIdle() {
		HikariDataSource pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		this.table = RecordTable.create(pool, "postgresql", "burst_" + UUID.randomUUID().toString().replace('-', '_'));
		this.store = new JdbcIdempotencyStore(new OwnTransactions(pool), this.table.name());
		this.reads = new RowReads(pool);
		this.table.template().execute("alter table " + this.table.name() + " set (autovacuum_enabled = false)");
		this.table.template().execute("vacuum " + this.table.name());
		for (int i = 0; i < IDLE; i++) {
			useEveryVerb(Long.MAX_VALUE / 2);
		}
		this.table.template()
			.update("insert into " + this.table.name()
					+ " select md5(i::text) || md5(i::text), 'other', 1, '', false, null, "
					+ "clock_timestamp() + interval '1 day' from generate_series(1, ?) i", BURST);
	}

	@Test
	void readsOnlyTheGivenKey() {
		useEveryVerb(FEW);
	}

	@Test
	void keepsThePlansOfTheStatementsOfATransaction() {
		this.table.template().execute("deallocate all");
		for (int i = 0; i < IDLE; i++) {
			claimAndComplete();
		}
		assertThat(this.table.template()
			.queryForList("select generic_plans > 0 from pg_prepared_statements where statement like ?", Boolean.class,
					"%" + this.table.name() + "%"))
			.containsExactly(true, true);
	}

	private void useEveryVerb(long rows) {
		read(rows, "claim and completion in a transaction", this::claimAndComplete);
		IdempotencyKey key = Samples.key();
		read(rows, "claim", () -> this.store.claim(key, REQUEST, "one", MINUTE));
		read(rows, "claim that finds a claimant", () -> this.store.claim(key, REQUEST, "two", MINUTE));
		read(rows, "renew", () -> this.store.renew(key, "one", MINUTE));
		read(rows, "renewal of several", () -> this.store.renewAll(List.of(new Renewal(key, "one", MINUTE))));
		read(rows, "complete", () -> this.store.complete(key, REQUEST, "one", Samples.response("done"), MINUTE));
		IdempotencyKey freed = Samples.key();
		this.store.claim(freed, REQUEST, "one", Duration.ofMillis(1));
		await().until(() -> read(2 * rows, "takeover",
				() -> this.store.claim(freed, REQUEST, "two", MINUTE)) instanceof Claim.Acquired);
		read(rows, "release", () -> this.store.release(freed, "two"));
		this.table.expire(2);
		assertThat(read(rows, "sweep",
				() -> Sweepers.sweeper(new OwnTransactions(this.table.dataSource()), this.table.name(), MINUTE)
					.sweep()))
			.isEqualTo(2);
	}

	private boolean claimAndComplete() {
		IdempotencyKey key = Samples.key();
		IdempotencyRecords records = new IdempotencyRecords(this.table.name());
		return Boolean.TRUE.equals(this.table.template().execute((ConnectionCallback<Boolean>) (connection) -> {
			connection.setAutoCommit(false);
			records.claim(connection, key, REQUEST, "one", null, MINUTE, MINUTE);
			boolean completed = records.completeOwn(connection, key, REQUEST, "one", Samples.response("done"), MINUTE);
			connection.commit();
			return completed;
		}));
	}

	private <T> T read(long rows, String verb, Supplier<T> work) {
		return this.reads.atMost(rows, this.table.name(), "one " + verb, work);
	}

}
