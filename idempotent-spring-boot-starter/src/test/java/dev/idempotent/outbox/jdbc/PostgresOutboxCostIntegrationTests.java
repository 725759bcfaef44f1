package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.idempotency.jdbc.StatementCount;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of an event on PostgreSQL. With one connection, so that a step that needs a
 * second one fails, and the statistics are those of the test.
 */
@Tag("long")
class PostgresOutboxCostIntegrationTests extends OutboxStoreSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final StatementCount count = new StatementCount();

	private static final int ROWS = 100_000;

	/**
	 * Far more than a claim needs, which also reads leased rows.
	 */
	private static final long MANY = 300;

	/**
	 * A statement and the settings of its transaction, which are sent in one batch.
	 */
	private static final int ONE_IN_A_TRANSACTION = 2;

	private StoreOnTables tables;

	private static HikariDataSource pool;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(5000);
	}

	@BeforeEach
	void createTables() {
		DelegatingDataSource counted = new DelegatingDataSource(pool) {
			@Override
			public Connection getConnection() throws SQLException {
				return count.of(super.getConnection());
			}
		};
		this.tables = StoreOnTables.create(counted, "postgresql", this.publisher.replace('-', '_') + "_");
		count.take();
	}

	@Override
	protected StoreOnTables tested() {
		return this.tables;
	}

	@Test
	void appendsEventsWithOneStatement() {
		append(types(500));
		assertThat(count.take()).isEqualTo(1);
		appendLeased("one", "two");
		assertThat(count.take()).isEqualTo(1);
	}

	@Test
	void claimsEventsWithOneStatementAndReadsThemWithAnother() {
		append(types(100));
		count.take();
		List<LeasedEvent> held = claim();
		assertThat(count.take()).isEqualTo(2 * ONE_IN_A_TRANSACTION);
		postpone(held, Duration.ZERO);
		count.take();
		assertThat(claimWaiting()).hasSize(100);
		assertThat(count.take()).isEqualTo(2 * ONE_IN_A_TRANSACTION);
		assertThat(claim()).isEmpty();
		assertThat(count.take()).isEqualTo(ONE_IN_A_TRANSACTION);
	}

	@Test
	void deletesABatchWithOneStatement() {
		List<LeasedEvent> held = both(appendLeased(types(100)), appendLeased("of", "another", "claim"));
		count.take();
		assertThat(store().delivered(held)).isEqualTo(103);
		assertThat(count.take()).isEqualTo(ONE_IN_A_TRANSACTION);
	}

	@Test
	void writesTwoRowsForAnEventThatIsAppendedWithALease() {
		store().delivered(appendLeased(types(100)));
		Statistics event = statistics(Place.EVENT);
		assertThat(List.of(event.inserted(), event.updated(), event.deleted())).containsExactly(100L, 0L, 100L);
		Statistics waiting = statistics(Place.WAITING);
		assertThat(List.of(waiting.inserted(), waiting.updated(), waiting.deleted())).containsOnly(0L);
	}

	@Test
	void readsNoWaitingEventThatIsNotDue() {
		fill(Place.WAITING, ROWS, "interval '1 hour'");
		append(types(100));
		postpone(claim(), Duration.ZERO);
		readsAtMost(MANY, Place.WAITING, () -> assertThat(claimWaiting(10)).hasSize(10), 10);
		readsAtMost(MANY, Place.WAITING, () -> assertThat(claimWaiting()).isEmpty(), 10);
		readsAtMost(0, Place.WAITING, () -> assertThat(claim()).isEmpty(), 5);
		append(types(100));
		readsAtMost(MANY, Place.EVENT, () -> assertThat(claimAbove(0, 10)).hasSize(10), 10);
	}

	@Test
	void readsNoMoreThanItClaimsOfManyRows() {
		fill(Place.EVENT, ROWS, "interval '-1 hour'");
		readsAtMost(MANY, Place.EVENT, () -> assertThat(claimAbove(0, 10)).hasSize(10), 12);
	}

	@Test
	void readsNoRowBelowTheGivenOne() {
		fill(Place.EVENT, ROWS, "interval '1 hour'");
		long above = append("last of them").get(0).sequence();
		append(types(100));
		readsAtMost(MANY, Place.EVENT, () -> assertThat(claimAbove(above, 10)).hasSize(10), 10);
	}

	/**
	 * Claims until the server would have changed to a generic plan.
	 */
	private void readsAtMost(long rows, Place place, Runnable claim, int times) {
		this.tables.template().execute("analyze " + this.tables.table(place));
		for (int i = 0; i < times; i++) {
			long before = statistics(place).read();
			claim.run();
			assertThat(statistics(place).read() - before).as("rows read by claim %d", i).isBetween(0L, rows);
		}
	}

	private Statistics statistics(Place place) {
		this.tables.template().queryForList("select pg_stat_force_next_flush()");
		return this.tables.template()
			.queryForObject("select n_tup_ins, n_tup_upd, n_tup_del, seq_tup_read + (select sum(idx_tup_read) "
					+ "from pg_stat_user_indexes i where i.relid = t.relid) from pg_stat_user_tables t where relname = ?",
					(columns, number) -> new Statistics(columns.getLong(1), columns.getLong(2), columns.getLong(3),
							columns.getLong(4)),
					this.tables.table(place));
	}

	private void fill(Place place, int rows, String delay) {
		boolean waiting = (place == Place.WAITING);
		this.tables.template()
			.update("insert into " + this.tables.table(place)
					+ " (id, event_id, topic, type, content_type, payload, headers, created_at, available_at, attempts) "
					+ "select "
					+ (waiting ? "-i" : "nextval(pg_get_serial_sequence('" + this.tables.table(place) + "', 'id'))")
					+ ", gen_random_uuid(), ?, 'type', 'application/json', '', '{}', clock_timestamp(), "
					+ "clock_timestamp() + " + delay + ", 1 from generate_series(1, ?) i", this.publisher + ":orders",
					rows);
	}

	private static String[] types(int number) {
		return IntStream.range(0, number).mapToObj((i) -> "event " + i).toArray(String[]::new);
	}

	/**
	 * The statistics of a table since it was created.
	 */
	private record Statistics(long inserted, long updated, long deleted, long read) {
	}

}
