package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Race;
import dev.idempotent.jdbc.Database;
import dev.idempotent.jdbc.TableSweeper;
import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.EventCount;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxSummary;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What operators are promised on every database.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class OperatorsContract {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final KeyLimits LIMITS = new KeyLimits(32, Long.MAX_VALUE, 2, 10);

	private OperatorTables tables;

	private JdbcDeadEvents dead;

	private JdbcOutboxReader reader;

	/**
	 * Creates empty tables.
	 */
	abstract OperatorTables create();

	@BeforeEach
	void emptyTables() {
		this.tables = create();
		this.dead = new JdbcDeadEvents(this.tables.dataSource(), this.tables.names());
		this.reader = new JdbcOutboxReader(this.tables.dataSource(), this.tables.names());
	}

	@Test
	void listsDeadEventsPageByPage() {
		this.tables.deadLetter(1, 5);
		assertThat(this.dead.list(DeadFilter.ALL, 0, 2)).extracting(DeadEvent::row).containsExactly(1L, 2L);
		assertThat(this.dead.list(DeadFilter.ALL, 2, 2)).extracting(DeadEvent::row).containsExactly(3L, 4L);
		assertThat(this.dead.list(DeadFilter.ALL, 4, 2)).extracting(DeadEvent::row).containsExactly(5L);
	}

	@Test
	void listsTheReasonAndAgeOfADeadEventWithoutItsPayload() {
		this.tables.deadLetter(7, 1);
		this.tables.age(7, HOUR);
		DeadEvent event = this.dead.list(DeadFilter.ALL, 0, 1).get(0);
		assertThat(event.deadFor()).isBetween(HOUR, HOUR.plusMinutes(2));
		assertThat(event).isEqualTo(new DeadEvent(OperatorTables.id(7), 7, OperatorTables.TYPE, OperatorTables.TOPIC,
				10, event.deadFor(), "The broker refused it", "secret".length()));
		assertThat(event.toString()).doesNotContain("secret");
	}

	@Test
	void selectsEventsThatMatchAllValuesOfAFilter() {
		this.tables.deadLetter(1, 2, "order.created", "test:orders");
		this.tables.deadLetter(3, 2, "order.paid", "test:orders");
		this.tables.deadLetter(5, 2, "order.paid", "test:payments");
		assertThat(rows(new DeadFilter(null, "order.paid", null))).containsExactly(3L, 4L, 5L, 6L);
		assertThat(rows(new DeadFilter(null, null, "test:orders"))).containsExactly(1L, 2L, 3L, 4L);
		assertThat(rows(new DeadFilter(null, "order.paid", "test:orders"))).containsExactly(3L, 4L);
		assertThat(rows(new DeadFilter(OperatorTables.id(6), null, null))).containsExactly(6L);
		assertThat(rows(new DeadFilter(OperatorTables.id(6), "order.created", null))).isEmpty();
		assertThat(this.dead.discard(new DeadFilter(null, "order.paid", "test:payments"))).isEqualTo(2);
		assertThat(this.dead.retry(new DeadFilter(OperatorTables.id(3), null, null))).isEqualTo(1);
		assertThat(rows(DeadFilter.ALL)).containsExactly(1L, 2L, 4L);
	}

	@Test
	void retriesEventsWithAllTheirAttempts() {
		this.tables.deadLetter(1, 1);
		Map<String, Object> before = row("sequence", this.tables.names().dead());
		assertThat(this.dead.retry(DeadFilter.ALL)).isEqualTo(1);
		assertThat(this.tables.count(this.tables.names().dead())).isZero();
		assertThat(row("id", this.tables.names().waiting())).isEqualTo(before);
		Map<String, Object> state = this.tables.template()
			.queryForMap("select attempts, last_error, claim_id, claimed_by from " + this.tables.names().waiting());
		assertThat(state).containsEntry("attempts", 0)
			.containsEntry("last_error", null)
			.containsEntry("claim_id", null)
			.containsEntry("claimed_by", null);
		String due = "select count(*) from " + this.tables.names().waiting() + " where available_at <= "
				+ dialect().now();
		assertThat(this.tables.template().queryForObject(due, Integer.class)).isEqualTo(1);
	}

	@Test
	void movesAndDeletesEachEventOnceForManyOperators() throws InterruptedException {
		this.tables.deadLetter(1, 2_200);
		List<int[]> done = Race.of(4,
				(operator) -> (operator % 2 == 0) ? new int[] { this.dead.retry(DeadFilter.ALL), 0 }
						: new int[] { 0, this.dead.discard(DeadFilter.ALL) });
		int retried = done.stream().mapToInt((counts) -> counts[0]).sum() + this.dead.retry(DeadFilter.ALL);
		int discarded = done.stream().mapToInt((counts) -> counts[1]).sum();
		assertThat(retried + discarded).isEqualTo(2_200);
		assertThat(this.tables.count(this.tables.names().waiting())).isEqualTo(retried);
		assertThat(this.tables.count(this.tables.names().dead())).isZero();
	}

	@Test
	void skipsALockedEvent() throws SQLException {
		this.tables.deadLetter(1, 2);
		try (Connection other = this.tables.dataSource().getConnection()) {
			other.setAutoCommit(false);
			new DeadRows(dialect(), this.tables.names()).lock(other, new DeadFilter(OperatorTables.id(1), null, null),
					0, 1, 1);
			assertThat(this.dead.discard(DeadFilter.ALL)).isEqualTo(1);
			other.rollback();
		}
		assertThat(rows(DeadFilter.ALL)).containsExactly(1L);
	}

	@Test
	void retriesAnEventOnceEvenIfItDiesAgain() {
		this.tables.append(Duration.ZERO, Duration.ZERO);
		for (int i = 0; i < 9; i++) {
			this.tables.doublePending();
		}
		this.tables.deadLetterPending();
		JdbcDeadEvents fruitless = new JdbcDeadEvents(new DelegatingDataSource(this.tables.dataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				OperatorsContract.this.tables.deadLetterWaiting();
				return super.getConnection();
			}

		}, this.tables.names());
		assertThat(fruitless.retry(DeadFilter.ALL)).isEqualTo(512);
	}

	@Test
	void sweepsOnlyEventsThatHaveBeenDeadForTooLong() {
		this.tables.deadLetter(1, 10);
		this.tables.age(4, HOUR);
		try (TableSweeper sweeper = sweeper(HOUR.minusMinutes(1))) {
			assertThat(sweeper.sweep()).isEqualTo(4);
			assertThat(sweeper.sweep()).isZero();
		}
		assertThat(rows(DeadFilter.ALL)).containsExactly(5L, 6L, 7L, 8L, 9L, 10L);
	}

	@Test
	void sweepsEachEventOnceOnManyInstances() throws InterruptedException {
		this.tables.deadLetter(1, 1_800);
		this.tables.age(1_800, HOUR);
		List<Integer> swept = Race.of(4, (instance) -> sweep());
		assertThat(swept.stream().mapToInt(Integer::intValue).sum() + sweep()).isEqualTo(1_800);
		assertThat(this.tables.count(this.tables.names().dead())).isZero();
	}

	@Test
	void sweepsAtAnIntervalUntilClosed() {
		this.tables.deadLetter(1, 3);
		try (TableSweeper sweeper = sweeper(Duration.ofMillis(20))) {
			sweeper.start();
			await().until(() -> rows(DeadFilter.ALL).isEmpty());
		}
		this.tables.deadLetter(1, 1);
		await().during(Duration.ofMillis(200)).until(() -> rows(DeadFilter.ALL).size() == 1);
	}

	@Test
	void knowsTheAgeOfTheOldestOrderedEventThatCouldBeDelivered() {
		JdbcOrderedStore ordered = new JdbcOrderedStore(this.tables.dataSource(), this.tables.names(),
				PayloadEncryption.NONE);
		appendOrdered(ordered, "one", "one", "two");
		this.tables.ageOrdered("one", HOUR);
		assertThat(this.reader.read().oldestPendingAge()).isBetween(HOUR, HOUR.plusMinutes(2));
		this.tables.failOrdered("one");
		assertThat(this.reader.read().oldestPendingAge()).isLessThan(Duration.ofMinutes(2));
	}

	@Test
	void summarizesAnEmptyOutbox() {
		EventCount none = new EventCount(0, true);
		assertThat(this.reader.read()).isEqualTo(new OutboxSummary(none, none, none, 0, none, 0, Duration.ZERO));
	}

	@Test
	void summarizesTheEventsOfEachTable() {
		this.tables.append(HOUR, HOUR);
		this.tables.append(Duration.ofDays(1), Duration.ZERO);
		this.tables.append(Duration.ZERO, Duration.ofMillis(-1));
		this.tables.deadLetter(1, 5);
		this.dead.retry(new DeadFilter(OperatorTables.id(2), null, null));
		JdbcOrderedStore ordered = new JdbcOrderedStore(this.tables.dataSource(), this.tables.names(),
				PayloadEncryption.NONE);
		appendOrdered(ordered, "one", "one", "two");
		LeasedEvent held = ordered.claim(Map.of(OrderedEvent.hash(OperatorTables.TOPIC, "two"), lease()), LIMITS)
			.get(0);
		ordered.block(List.of(new FailedEvent(held, "refused")));
		OutboxSummary summary = this.reader.read();
		assertThat(summary.oldestPendingAge()).isBetween(HOUR, HOUR.plusMinutes(2));
		assertThat(summary).isEqualTo(new OutboxSummary(new EventCount(3, true), new EventCount(1, true),
				new EventCount(3, true), 1, new EventCount(4, true), 1, summary.oldestPendingAge()));
	}

	@Test
	void countsUpToALimit() {
		this.tables.append(Duration.ZERO, Duration.ZERO);
		for (int i = 0; i < 14; i++) {
			this.tables.doublePending();
		}
		this.tables.deadLetter(1, 10_000);
		assertThat(this.reader.read().pending()).isEqualTo(new EventCount(10_000, false));
		assertThat(this.reader.read().dead()).isEqualTo(new EventCount(10_000, true));
	}

	@Test
	void doesNotQueryMissingTablesAgain() {
		JdbcOutboxReader lost = new JdbcOutboxReader(this.tables.dataSource(), new OutboxTables("late_"));
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(lost::read);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(lost::read)
			.withMessage("The tables of the outbox do not exist");
	}

	private static EventLease lease() {
		return EventLease.by("this instance", HOUR);
	}

	private void appendOrdered(JdbcOrderedStore ordered, String... keys) {
		ordered.append(Stream.of(keys)
			.map((key) -> OrderedEvent
				.of(OutboxSamples.event(OperatorTables.TOPIC, key, OperatorTables.TYPE, new byte[1], Map.of())))
			.toList());
	}

	private Map<String, Object> row(String id, String table) {
		Map<String, Object> row = this.tables.template()
			.queryForMap("select " + id + " as row_id, event_id, topic, event_key, type, content_type, headers, "
					+ "created_at from " + table);
		row.replaceAll((column, value) -> String.valueOf(value).replaceAll("clob\\d+", "clob"));
		return row;
	}

	private List<Long> rows(DeadFilter filter) {
		return this.dead.list(filter, 0, 100).stream().map(DeadEvent::row).toList();
	}

	private int sweep() {
		try (TableSweeper sweeper = sweeper(Duration.ofMinutes(1))) {
			return sweeper.sweep();
		}
	}

	private TableSweeper sweeper(Duration retention) {
		return this.dead.sweeper(retention);
	}

	private Database dialect() {
		return Database.valueOf(database());
	}

	abstract String database();

}
