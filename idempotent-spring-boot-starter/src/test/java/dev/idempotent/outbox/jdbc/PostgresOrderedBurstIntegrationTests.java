package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OrderedOutboxStore.HeadScan;
import dev.idempotent.outbox.OrderedStoreSteps;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rows that statements read when many ordered events are appended to an idle outbox,
 * before the database has new statistics. By then, the driver has prepared each statement
 * on the server, which has planned it for an empty table.
 */
@Tag("long")
class PostgresOrderedBurstIntegrationTests extends OrderedStoreSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	/**
	 * More executions than the driver and the server need to cache a plan: five each.
	 */
	private static final int IDLE = 12;

	private static final int BURST = 30_000;

	private static final int KEYS = 100;

	/**
	 * For each key of a batch, by each part of a statement, and for deleted rows.
	 */
	private static final long FEW = 20 * KEYS;

	private static HikariDataSource pool;

	private OrderedOnTables tables;

	private RowReads reads;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(5000);
	}

	@BeforeEach
	void createTables() {
		String prefix = this.topic.substring(0, this.topic.indexOf(':')).replace('-', '_') + "_";
		this.tables = OrderedOnTables.on(StoreOnTables.create(pool, "postgresql", prefix));
		this.reads = new RowReads(pool);
		this.tables.template().execute("alter table " + this.tables.table() + " set (autovacuum_enabled = false)");
		this.tables.template().execute("vacuum analyze " + this.tables.table());
		for (int i = 0; i < IDLE; i++) {
			idle();
		}
	}

	/**
	 * Calls each method with one event at a time.
	 */
	private void idle() {
		assertThat(claim("a")).isEmpty();
		assertThat(head("a")).isNull();
		store().scan(-1, KEYS);
		store().delivered(appendLeased("a1"));
		append("a2");
		store().release(claim("a"));
		postpone(claim("a"), Duration.ZERO);
		block(claim("a"));
		passTime();
		append("b1");
		deadLetter(claim("b"));
		this.tables.template().update("delete from " + this.tables.table());
	}

	@Override
	protected OrderedOnTables tested() {
		return this.tables;
	}

	@Test
	void readsAFewRowsOfEachOfManyKeys() {
		fill("7 + i * 1000");
		List<Long> keys = IntStream.rangeClosed(1, KEYS).mapToObj((i) -> 7 + i * 100_000L).toList();
		assertThat(reading("head check", () -> store().heads(keys))).hasSize(KEYS);
		HeadScan scan = reading("scan", () -> store().scan(9_000_000, KEYS));
		assertThat(scan.due()).hasSize(KEYS);
		settles(keys);
	}

	@Test
	void readsAFewRowsOfAKeyWithManyRows() {
		fill("7");
		List<Long> keys = List.of(7L);
		assertThat(reading("head check", () -> store().heads(keys))).hasSize(1);
		assertThat(reading("scan", () -> store().scan(-1, KEYS)).due()).hasSize(1);
		settles(keys);
	}

	private void settles(List<Long> keys) {
		for (int i = 0; i < 3; i++) {
			List<LeasedEvent> released = claimAll(keys);
			assertThat(reading("release", () -> store().release(released))).isEqualTo(released.size());
			List<LeasedEvent> postponed = claimAll(keys);
			assertThat(reading("postpone", () -> postpone(postponed, Duration.ZERO))).isEqualTo(postponed.size());
			List<LeasedEvent> dead = claimAll(keys);
			assertThat(reading("deadLetter", () -> deadLetter(dead))).isEqualTo(dead.size());
			fillAgain(keys);
			List<LeasedEvent> delivered = claimAll(keys);
			assertThat(reading("delete", () -> store().delivered(delivered))).isEqualTo(delivered.size());
			fillAgain(keys);
		}
	}

	private List<LeasedEvent> claimAll(List<Long> keys) {
		Map<Long, EventLease> leases = new LinkedHashMap<>();
		keys.forEach((key) -> leases.put(key, lease()));
		List<LeasedEvent> held = reading("claim", () -> store().claim(leases, LIMITS));
		assertThat(held.stream().map(LeasedEvent::keyHash).distinct()).hasSameSizeAs(keys);
		return held;
	}

	private <T> T reading(String verb, Supplier<T> work) {
		return this.reads.atMost(FEW, this.tables.table(), "one " + verb, work);
	}

	private void fill(String hash) {
		insert(hash, BURST);
	}

	private void fillAgain(List<Long> keys) {
		keys.forEach((key) -> insert(Long.toString(key), 1));
	}

	private void insert(String hash, int rows) {
		this.tables.template()
			.update("insert into " + this.tables.table()
					+ " (key_hash, event_id, topic, event_key, type, payload, created_at, available_at) select " + hash
					+ ", gen_random_uuid(), ?, 'key', 'type', '', clock_timestamp() - interval '1 hour', "
					+ "clock_timestamp() - interval '1 hour' from generate_series(1, ?) i", this.topic, rows);
	}

}
