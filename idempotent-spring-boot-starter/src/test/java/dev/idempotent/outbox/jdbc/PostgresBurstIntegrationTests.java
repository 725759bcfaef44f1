package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RowReads;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rows that statements read when many events are appended to an idle outbox, before
 * the database has new statistics. By then, the driver has prepared each statement on the
 * server, which has planned it for an empty table.
 */
@Tag("long")
class PostgresBurstIntegrationTests extends OutboxStoreSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	/**
	 * More executions than the driver and the server need to cache a plan: five each.
	 */
	private static final int IDLE = 12;

	private static final int BURST = 30_000;

	private static final int BATCH = 500;

	/**
	 * For each row of a batch, by each statement of a method, and for deleted rows.
	 */
	private static final long FEW = 10 * BATCH;

	private static HikariDataSource pool;

	private StoreOnTables tables;

	private RowReads reads;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(5000);
	}

	@BeforeEach
	void createTables() {
		this.tables = StoreOnTables.create(pool, "postgresql", this.publisher.replace('-', '_') + "_");
		this.reads = new RowReads(pool);
		for (Place place : Place.values()) {
			template().execute("alter table " + this.tables.table(place) + " set (autovacuum_enabled = false)");
			template().execute("vacuum " + this.tables.table(place));
		}
		for (int i = 0; i < IDLE; i++) {
			idle();
		}
	}

	/**
	 * Calls each method with one event at a time.
	 */
	private void idle() {
		assertThat(claimAbove(0, BATCH)).isEmpty();
		assertThat(claimWaiting(BATCH)).isEmpty();
		store().moveDelayedToWaiting(BATCH);
		store().delivered(appendLeased("delivered at once"));
		append("waiting");
		postpone(claimAbove(0, BATCH), Duration.ZERO);
		postpone(claimWaiting(BATCH), Duration.ZERO);
		store().delivered(claimWaiting(BATCH));
		append("dead");
		deadLetter(claimAbove(0, BATCH));
		append("released");
		store().release(claimAbove(0, BATCH));
		store().delivered(claimAbove(0, BATCH));
	}

	@Override
	protected StoreOnTables tested() {
		return this.tables;
	}

	@Test
	void readsOnlyTheEventsThatItClaimsAndDeletes() {
		fill(Place.EVENT);
		for (int i = 0; i < 3; i++) {
			List<LeasedEvent> held = claim(Place.EVENT);
			assertThat(reading(Place.EVENT, "delete", () -> store().delivered(held))).isEqualTo(BATCH);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "EVENT", "WAITING" })
	void readsOnlyTheEventsThatItMoves(Place place) {
		fill(place);
		for (int i = 0; i < 3; i++) {
			List<LeasedEvent> released = claim(place);
			assertThat(reading(place, "release", () -> store().release(released))).isEqualTo(BATCH);
			List<LeasedEvent> waiting = claim(place);
			assertThat(reading(place, "postpone", () -> postpone(waiting, LONG))).isEqualTo(BATCH);
			List<LeasedEvent> dead = claim(place);
			assertThat(reading(place, "deadLetter", () -> deadLetter(dead))).isEqualTo(BATCH);
			List<LeasedEvent> delivered = claim(place);
			assertThat(reading(place, "delete", () -> store().delivered(delivered))).isEqualTo(BATCH);
		}
	}

	@Test
	void readsPendingEventsOnceToFindDelayedOnes() {
		fill(Place.EVENT);
		assertThat(this.reads.atMost(BURST + FEW, this.tables.table(Place.EVENT), "the search",
				() -> store().moveDelayedToWaiting(BATCH)))
			.isZero();
	}

	private List<LeasedEvent> claim(Place place) {
		List<LeasedEvent> held = reading(place, "claim",
				() -> (place == Place.EVENT) ? claimAbove(0, BATCH) : claimWaiting(BATCH));
		assertThat(held).hasSize(BATCH);
		return held;
	}

	private <T> T reading(Place place, String verb, Supplier<T> work) {
		return this.reads.atMost(FEW, this.tables.table(place), "one " + verb, work);
	}

	private void fill(Place place) {
		boolean waiting = (place == Place.WAITING);
		template().update("insert into " + this.tables.table(place)
				+ " (id, event_id, topic, type, content_type, payload, headers, created_at, available_at, attempts) "
				+ "select "
				+ (waiting ? "-i" : "nextval(pg_get_serial_sequence('" + this.tables.table(place) + "', 'id'))")
				+ ", gen_random_uuid(), ?, 'type', 'application/json', '', '{}', clock_timestamp(), "
				+ "clock_timestamp() - interval '1 hour', 1 from generate_series(1, ?) i", this.publisher + ":orders",
				BURST);
	}

	private JdbcTemplate template() {
		return this.tables.template();
	}

}
