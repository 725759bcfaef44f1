package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.jdbc.StatementCount;
import dev.idempotent.outbox.jdbc.ClaimedEvent.LockedRows;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of the steps of {@link EventTable} on PostgreSQL. With one connection, so that
 * a step that needs a second one fails, and the statistics are of the test alone.
 */
class PostgresEventTableCostIntegrationTests extends EventTableSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.dedicatedWith("max_prepared_transactions=1");

	private static final StatementCount count = new StatementCount();

	private static final int ROWS = 20_000;

	private static final int BATCH = 500;

	/**
	 * For each row of a batch, by index and with the rows that a claim has replaced.
	 */
	private static final long FEW = 10 * BATCH;

	private static HikariDataSource pool;

	private static HikariDataSource others;

	private Fixture fixture;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(5000);
		others = postgres.connect();
	}

	@Override
	Fixture fixture() {
		return this.fixture;
	}

	@BeforeEach
	@Override
	void empty() {
		DelegatingDataSource counted = new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				return count.of(super.getConnection());
			}

		};
		this.fixture = Fixture.create(counted, "postgresql", "cost_");
		template().execute("truncate cost_event, cost_delayed, cost_dead, cost_control");
		template().execute("alter table cost_event set (autovacuum_enabled = false)");
		count.take();
	}

	@Test
	void takesOneRoundTripForEachStep() {
		append(types(100));
		assertThat(count.take()).isOne();
		List<LaneQuery> lanes = due();
		// The isolation of the pool was read once.
		count.take();
		due();
		assertThat(count.take()).isOne();
		List<QueuedEvent> heads = table().heads(lanes, 1);
		assertThat(count.take()).isOne();
		List<ClaimedEvent> claims = claim(heads);
		assertThat(count.take()).isOne();
		assertThat(claims).hasSize(100);
		table().release(claims.subList(0, 50));
		assertThat(count.take()).isOne();
		table().delete(claims.subList(50, 100));
		assertThat(count.take()).isOne();
	}

	/**
	 * A process may die of the size of payloads.
	 */
	@Test
	void readsLargePayloadsAfterTheClaimHasCommitted() {
		insertLarge();
		List<QueuedEvent> heads = table().heads(due(), 1);
		count.take();
		assertThat(claim(heads)).extracting((claim) -> claim.event().payload().length).containsExactly(1_000_001);
		assertThat(count.take()).isEqualTo(2);
	}

	private void insertLarge() {
		template().update("insert into cost_event (event_id, topic, type, payload) "
				+ "values (gen_random_uuid(), ?, 'large', decode(repeat('00', 1000001), 'hex'))", TOPIC);
	}

	@Test
	void writesThreeRowsForAnEventTheSecondOfThemInItsPage() {
		template().queryForList("select pg_stat_force_next_flush()");
		template().queryForList("select pg_stat_reset_single_table_counters('cost_event'::regclass)");
		for (int i = 0; i < 100; i++) {
			append("one");
			table().delete(claim(table().heads(due(), 1)));
		}
		template().queryForList("select pg_stat_force_next_flush()");
		Map<String, Object> written = template().queryForMap("select n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del "
				+ "from pg_stat_user_tables where relname = 'cost_event'");
		assertThat(written).containsEntry("n_tup_ins", 100L)
			.containsEntry("n_tup_upd", 100L)
			.containsEntry("n_tup_del", 100L);
		assertThat((Long) written.get("n_tup_hot_upd")).isGreaterThan(95L);
	}

	@Test
	void writesTwoRowsForAnEventThatIsHandledWithoutAClaim() {
		assertThat(table().showsLocks()).isTrue();
		template().queryForList("select pg_stat_force_next_flush()");
		template().queryForList("select pg_stat_reset_single_table_counters('cost_event'::regclass)");
		for (int i = 0; i < 10; i++) {
			append("one");
			assertThat(handle(table().heads(due(), 1).get(0))).isTrue();
		}
		template().queryForList("select pg_stat_force_next_flush()");
		assertThat(template().queryForMap(
				"select n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables " + "where relname = 'cost_event'"))
			.isEqualTo(Map.of("n_tup_ins", 10L, "n_tup_upd", 0L, "n_tup_del", 10L));
	}

	@Test
	void setsNothingForTheNextUserOfTheConnection() {
		template().execute("""
				create or replace function cost_settings() returns trigger language plpgsql as $$ begin
					insert into cost_control (topic) values (TG_OP || ' ' || current_setting('synchronous_commit')
						|| ' ' || current_setting('enable_seqscan')) on conflict do nothing;
					return coalesce(new, old); end $$""");
		template().execute("create trigger settings before insert or update or delete on cost_event "
				+ "for each row execute function cost_settings()");
		try {
			append("one");
			List<ClaimedEvent> claims = claim(table().heads(due(), 1));
			requireDefaults();
			table().release(claims);
			requireDefaults();
			table().delete(claim(table().heads(due(), 1)));
			requireDefaults();
			due();
			requireDefaults();
			append("two");
			table().postpone(failures(claim(table().heads(due(), 1)), "broken"));
			requireDefaults();
		}
		finally {
			template().execute("drop trigger settings on cost_event");
		}
		// The last update is of the failure, which must not be lost.
		assertThat(template().queryForList("select topic from cost_control", String.class))
			.containsExactlyInAnyOrder("INSERT on on", "UPDATE off off", "DELETE off off", "UPDATE on off");
	}

	/**
	 * Otherwise, the statements of the handler, and of callbacks behind the deletion,
	 * would be planned without sequential scans.
	 */
	@Test
	void setsNothingForTheWorkOfAHandler() {
		append("one");
		ClaimedEvent claim = claim(table().heads(due(), 1)).get(0);
		inTransaction(() -> {
			template().execute("set local enable_bitmapscan = off");
			Object lock = lock(claim);
			assertThat(template().queryForObject("show enable_bitmapscan", String.class)).isEqualTo("off");
			template().execute("set local enable_bitmapscan = on");
			requireDefaults();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			});
			assertThat(table().deleteInTransaction(claim, lock)).isTrue();
			requireDefaults();
			return true;
		});
		requireDefaults();
		append("two");
		QueuedEvent head = table().heads(due(), 1).get(0);
		inTransaction(() -> {
			assertThat(table().lockUnclaimed(head, Duration.ofMinutes(1))).isNotNull();
			requireDefaults();
			return true;
		});
	}

	private Object lock(ClaimedEvent claim) {
		return Objects.requireNonNull(table().lockInTransaction(claim, Duration.ofMinutes(1)));
	}

	private boolean handle(QueuedEvent head) {
		assertThat(table().showsLocks()).isTrue();
		return inTransaction(() -> {
			LockedRows lock = Objects.requireNonNull(table().lockUnclaimed(head, Duration.ofMinutes(1)));
			return table().deleteInTransaction(lock);
		});
	}

	private boolean handle(ClaimedEvent claim) {
		return inTransaction(() -> table().deleteInTransaction(claim, lock(claim)));
	}

	private void requireDefaults() {
		assertThat(Stream.of("synchronous_commit", "enable_seqscan", "enable_bitmapscan")
			.map((name) -> template().queryForObject("show " + name, String.class))).containsOnly("on");
		assertThat(template().queryForObject("show plan_cache_mode", String.class)).isEqualTo("auto");
	}

	/**
	 * The driver and the server keep the plan of a statement after five executions each.
	 */
	@Test
	void usesIndexesOnATableThatWasEmptyForLong() {
		template().execute("vacuum analyze cost_event");
		for (int i = 0; i < 12; i++) {
			append("one");
			table().release(claim(table().heads(due(), 1)));
			table().postpone(failures(claim(table().heads(due(), 1)), "broken"));
			endLeases();
			table().delete(claim(table().heads(due(), 100)));
			append("handled");
			assertThat(handle(claim(table().heads(due(), 1)).get(0))).isTrue();
			append("unclaimed");
			assertThat(handle(table().heads(due(), 1).get(0))).isTrue();
			append("two");
			table().moveToDead(failures(claim(table().heads(due(), 1)), "broken"));
			insertLarge();
			table().delete(claim(table().heads(due(), 1)));
		}
		insertLarge();
		List<QueuedEvent> large = table().heads(due(), 1);
		template().update("insert into cost_event (lane, event_id, topic, type, payload) select i * 1000, "
				+ "gen_random_uuid(), ?, 'type', '' from generate_series(1, ?) i", TOPIC, ROWS);
		RowReads reads = new RowReads(pool);
		assertThat(reads.atMost(FEW, "cost_event", "a claim of a large event", () -> claim(large))).hasSize(1);
		for (int i = 0; i < 4; i++) {
			List<LaneQuery> lanes = reads.atMost(FEW, "cost_event", "a scan",
					() -> table().scan(Long.MIN_VALUE, BATCH)
						.due()
						.stream()
						.map((row) -> new LaneQuery(row.lane(), 0))
						.toList());
			assertThat(lanes).hasSize(BATCH);
			List<QueuedEvent> heads = reads.atMost(FEW, "cost_event", "a search", () -> table().heads(lanes, 1));
			List<ClaimedEvent> released = reads.atMost(FEW, "cost_event", "a claim", () -> claim(heads));
			assertThat(reads.atMost(FEW, "cost_event", "a release", () -> table().release(released))).isEqualTo(BATCH);
			List<ClaimedEvent> failed = claim(table().heads(lanes, 1));
			assertThat(reads.atMost(FEW, "cost_event", "a failure",
					() -> table().postpone(failures(failed.subList(0, 100), "broken"))))
				.isEqualTo(100);
			assertThat(reads.atMost(FEW, "cost_event", "a death",
					() -> table().moveToDead(failures(failed.subList(100, 200), "broken"))))
				.isEqualTo(100);
			assertThat(reads.atMost(FEW, "cost_event", "the transaction of a handler", () -> handle(failed.get(200))))
				.isTrue();
			assertThat(reads.atMost(FEW, "cost_event", "a delete", () -> table().delete(failed.subList(201, BATCH))))
				.isEqualTo(299);
			List<QueuedEvent> unclaimed = table().heads(due(), 1);
			assertThat(reads.atMost(FEW, "cost_event", "a transaction without a claim", () -> handle(unclaimed.get(0))))
				.isTrue();
			assertThat(reads.atMost(FEW, "cost_event", "a delete of the rest", () -> table().delete(failed)))
				.isEqualTo(100);
		}
	}

	@Test
	void plansNoStatementForItsRows() {
		for (int i = 0; i < 12; i++) {
			append("one");
			table().release(claim(table().heads(due(), 1)));
			append("two");
			table().release(claim(table().heads(due(), 1)));
			table().delete(claim(table().heads(due(), 1)));
		}
		for (String rows : List.of("unnest(", "(select $1::bigint")) {
			String plans = "select sum(%s) from pg_prepared_statements where statement like '%%" + rows + "%%'";
			assertThat(template().queryForObject(plans.formatted("generic_plans"), Long.class)).as(rows)
				.isGreaterThan(10);
			assertThat(template().queryForObject(plans.formatted("custom_plans"), Long.class)).as(rows).isZero();
		}
	}

	@Test
	void searchesBehindTheRowsThatAnOldSnapshotKeeps() throws SQLException {
		long lane = LaneHash.of(TOPIC, "hot");
		try (Connection old = others.getConnection(); Statement snapshot = old.createStatement()) {
			old.setAutoCommit(false);
			old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			snapshot.executeQuery("select count(*) from cost_event");
			template().update("insert into cost_event (lane, event_id, topic, event_key, type, payload) select ?, "
					+ "gen_random_uuid(), ?, 'hot', 'type', '' from generate_series(1, 100000)", lane, TOPIC);
			long last = Objects.requireNonNull(template().queryForObject("select max(id) from cost_event", Long.class));
			template().execute("delete from cost_event");
			template().execute("vacuum cost_event");
			Row row = append(ordered("hot", "new")).get(0);
			List<QueuedEvent> found = new ArrayList<>();
			assertThat(buffers(() -> found.addAll(table().heads(List.of(new LaneQuery(lane, last)), 100))))
				.isLessThan(20);
			assertThat(found).extracting(QueuedEvent::id).containsExactly(row.id());
			assertThat(buffers(() -> assertThat(table().delete(claim(found))).isOne())).isLessThan(60);
			append(ordered("hot", "next"));
			assertThat(buffers(() -> assertThat(table().heads(List.of(new LaneQuery(lane, 0)), 100)).hasSize(1)))
				.as("a search from the first row, which the scan's share of time limits")
				.isGreaterThan(500);
			old.rollback();
		}
	}

	/**
	 * The pages of the table and its index that some work has read.
	 */
	private long buffers(Runnable work) {
		long before = buffers();
		work.run();
		return buffers() - before;
	}

	private long buffers() {
		template().queryForList("select pg_stat_force_next_flush()");
		return Objects
			.requireNonNull(template().queryForObject("select heap_blks_hit + heap_blks_read + idx_blks_hit + "
					+ "idx_blks_read from pg_statio_user_tables where relname = 'cost_event'", Long.class));
	}

	/**
	 * A prepared transaction has no session. It can commit after rows with higher ids.
	 */
	@Test
	void findsTheEventsOfAPreparedTransactionOnceItHasCommitted() throws SQLException {
		try (Connection connection = others.getConnection(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			statement.execute("insert into cost_event (lane, event_id, topic, event_key, type, payload) values ("
					+ LaneHash.of(TOPIC, "late") + ", gen_random_uuid(), '" + TOPIC + "', 'late', 'late', '')");
			statement.execute("prepare transaction 'late'");
			connection.setAutoCommit(true);
			append(ordered("late", "other"));
			assertThat(types(claim(table().heads(due(), 10)))).containsExactly("other");
			statement.execute("commit prepared 'late'");
			assertThat(types(claim(table().heads(due(), 10)))).containsExactly("late");
		}
	}

	private List<LaneQuery> due() {
		return table().scan(Long.MIN_VALUE, 1000).due().stream().map((row) -> new LaneQuery(row.lane(), 0)).toList();
	}

	private static String[] types(int number) {
		return IntStream.range(0, number).mapToObj((i) -> "event " + i).toArray(String[]::new);
	}

}
