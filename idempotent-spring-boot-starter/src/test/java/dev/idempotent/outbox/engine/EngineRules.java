package dev.idempotent.outbox.engine;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.engine.EventTable.Claim;
import dev.idempotent.outbox.engine.EventTable.Dialect;
import dev.idempotent.outbox.engine.EventTable.Head;
import dev.idempotent.outbox.engine.EventTable.Look;
import dev.idempotent.outbox.engine.EventTable.NewRow;
import dev.idempotent.outbox.engine.OutboxEngine.Settings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the engine promises on each database.
 */
abstract class EngineRules {

	private static final String TOPIC = "memory:events";

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Duration OVER = Duration.ofSeconds(-1);

	private static final Duration NEVER = Duration.ofDays(2);

	private static final long SHARED_LANE = Lanes.of(TOPIC, "shared");

	private final EventTable table = new EventTable(dialect());

	private final RecordingPublisher publisher = new RecordingPublisher();

	private @Nullable OutboxEngine engine;

	abstract Dialect dialect();

	abstract Connection connect() throws SQLException;

	@BeforeEach
	void createTable() throws SQLException {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.execute("drop table if exists outbox_event");
			statement.execute(dialect().schema());
		}
	}

	@AfterEach
	void stop() {
		if (this.engine != null) {
			this.engine.close();
		}
	}

	private OutboxEngine start(int run, Duration scanInterval) {
		OutboxEngine started = create(run, scanInterval);
		started.start();
		return started;
	}

	private OutboxEngine create(int run, Duration scanInterval) {
		OutboxEngine created = new OutboxEngine(this.table, this::connect, this.publisher,
				new Settings(2, 100, run, LEASE, scanInterval, 3, Duration.ofMillis(1)));
		this.engine = created;
		return created;
	}

	@Test
	void deliversAKeyInOrderWhenWoken() throws Exception {
		OutboxEngine started = start(1, NEVER);
		List<String> payloads = IntStream.range(0, 30).mapToObj(Integer::toString).toList();
		for (String payload : payloads) {
			started.wake(Lanes.of(TOPIC, "key"), append(row("key", payload)));
		}
		await().untilAsserted(() -> assertThat(this.publisher.published).isEqualTo(payloads));
		await().until(() -> rows() == 0);
	}

	@Test
	void deliversARunInOrderWithoutAWake() throws Exception {
		List<String> payloads = IntStream.range(0, 250).mapToObj(Integer::toString).toList();
		append(payloads.stream().map((payload) -> row("key", payload)).toArray(NewRow[]::new));
		start(100, Duration.ofMillis(50));
		await().untilAsserted(() -> assertThat(this.publisher.published).isEqualTo(payloads));
		assertThat(this.publisher.batches).containsExactly(100, 100, 50);
	}

	@Test
	void publishesNothingOfARollback() throws Exception {
		OutboxEngine started = start(100, Duration.ofMillis(50));
		try (Connection connection = connect()) {
			connection.setAutoCommit(false);
			NewRow row = row("key", "rolled back");
			long id = this.table.append(connection, List.of(row)).get(0);
			started.wake(row.lane(), id);
			await().until(() -> started.passes.sum() > 1);
			connection.rollback();
		}
		append(row("key", "committed"));
		await().untilAsserted(() -> assertThat(this.publisher.published).containsExactly("committed"));
	}

	@Test
	void anOvertakenClaimSettlesNothing() throws Exception {
		append(row("key", "event"));
		try (Connection connection = prepared()) {
			List<Claim> first = this.table.claim(connection, heads(connection), OVER);
			List<Claim> second = this.table.claim(connection, heads(connection), LEASE);
			assertThat(this.table.delete(connection, first)).isZero();
			assertThat(this.table.retry(connection, first, LEASE)).isZero();
			assertThat(this.table.release(connection, first)).isZero();
			assertThat(heads(connection)).extracting(Head::attempts, Head::due).containsExactly(tuple(2, false));
			assertThat(this.table.delete(connection, second)).isOne();
		}
	}

	private static org.assertj.core.groups.Tuple tuple(Object... values) {
		return org.assertj.core.groups.Tuple.tuple(values);
	}

	@Test
	void claimsNothingThatAnotherHasClaimedSinceItWasRead() throws Exception {
		append(row("one", "1"), row("two", "2"));
		try (Connection connection = prepared()) {
			List<Head> read = heads(connection);
			assertThat(this.table.claim(connection, read.subList(0, 1), LEASE)).hasSize(1);
			assertThat(this.table.claim(connection, read, LEASE)).extracting(Claim::id)
				.containsExactly(read.get(1).id());
		}
	}

	@Test
	void givesTheAttemptBack() throws Exception {
		append(row("key", "event"));
		try (Connection connection = prepared()) {
			assertThat(this.table.release(connection, this.table.claim(connection, heads(connection), LEASE))).isOne();
			assertThat(heads(connection)).extracting(Head::attempts, Head::due).containsExactly(tuple(0, true));
		}
	}

	/**
	 * Two keys have one lane. The first row of a key commits after a later row of the
	 * other has been delivered.
	 */
	@Test
	void doesNotOvertakeAnEarlierRowOfAnotherKey() throws Exception {
		OutboxEngine started = start(100, NEVER);
		try (Connection late = connect()) {
			late.setAutoCommit(false);
			this.table.append(late, List.of(inSharedLane("one", "1")));
			started.wake(SHARED_LANE, append(inSharedLane("two", "other")));
			await().until(() -> this.publisher.published.size() == 1 && rows() == 0);
			// Another instance: no wake.
			late.commit();
		}
		started.wake(SHARED_LANE, append(inSharedLane("one", "2")));
		await().untilAsserted(() -> assertThat(this.publisher.published).containsExactly("other", "1", "2"));
	}

	@Test
	void sendsSuspectsAlone() throws Exception {
		append(row("one", "1"), row("two", "2"), row("three", "3"));
		try (Connection connection = prepared()) {
			this.table.claim(connection, heads(connection), OVER);
		}
		append(row("four", "4"), row("five", "5"));
		OutboxEngine created = create(1, NEVER);
		List.of("one", "two", "three", "four", "five").forEach((key) -> created.wake(Lanes.of(TOPIC, key), 1));
		created.start();
		await().until(() -> rows() == 0);
		assertThat(this.publisher.batches).containsExactlyInAnyOrder(2, 1, 1, 1);
	}

	@Test
	void countsNoAttemptWhileTheBrokerIsAway() throws Exception {
		this.publisher.outcome = (event) -> (this.publisher.attempts.size() < 10) ? new Outcome.Unavailable("Away")
				: new Outcome.Delivered();
		OutboxEngine started = start(100, NEVER);
		started.wake(Lanes.of(TOPIC, "key"), append(row("key", "event")));
		await().until(() -> rows() == 0);
		assertThat(this.publisher.attempts).hasSizeGreaterThanOrEqualTo(10).containsOnly(1);
	}

	@Test
	void stopsARunAtItsFailureAndBlocksTheLaneAfterTheLastAttempt() throws Exception {
		this.publisher.outcome = (event) -> text(event).equals("poison") ? new Outcome.Retry("Refused", null)
				: new Outcome.Delivered();
		append(row("key", "1"), row("key", "poison"), row("key", "3"), row("other", "4"));
		start(1, Duration.ofMillis(50));
		await().until(() -> this.publisher.attempts.contains(3));
		await().until(() -> rows() == 2);
		assertThat(this.publisher.published).containsExactlyInAnyOrder("1", "4");
	}

	@Test
	void deliversOtherTopicsBesideAPausedOne() throws Exception {
		OutboxEngine started = start(100, Duration.ofMillis(50));
		started.pause(TOPIC);
		append(row("one", "1"), row(null, "2"));
		append(NewRow.of("memory:other", "key", UUID.randomUUID(), "other"));
		await().until(() -> rows() == 2);
		assertThat(this.publisher.published).containsExactly("other");
		started.resume(TOPIC);
		await().until(() -> rows() == 0);
	}

	@Test
	void deliversRowsOfOtherPrograms() throws Exception {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement
				.execute("insert into outbox_event (event_id, topic, type, payload) values ('" + UUID.randomUUID()
						+ "', '" + TOPIC + "', 'test', "
						+ ((dialect() == Dialect.MARIADB) ? "'foreign'"
								: "cast('foreign' as " + ((dialect() == Dialect.H2) ? "varbinary" : "bytea") + ")")
						+ ")");
		}
		start(100, Duration.ofMillis(50));
		await().untilAsserted(() -> assertThat(this.publisher.published).hasSize(1));
	}

	private NewRow row(@Nullable String key, String payload) {
		return NewRow.of(TOPIC, key, UUID.randomUUID(), payload);
	}

	private static NewRow inSharedLane(String key, String payload) {
		return NewRow.in(SHARED_LANE, TOPIC, key, UUID.randomUUID(), payload);
	}

	private long append(NewRow... rows) throws SQLException {
		try (Connection connection = connect()) {
			connection.setAutoCommit(false);
			long first = this.table.append(connection, Arrays.asList(rows)).get(0);
			connection.commit();
			return first;
		}
	}

	private Connection prepared() throws SQLException {
		Connection connection = connect();
		this.table.prepare(connection);
		return connection;
	}

	private List<Head> heads(Connection connection) throws SQLException {
		List<Look> lanes = this.table.scan(connection, Long.MIN_VALUE, 100)
			.due()
			.stream()
			.map((lane) -> new Look(lane.lane(), 0))
			.collect(Collectors.toCollection(ArrayList::new));
		if (lanes.isEmpty()) {
			lanes.add(new Look(Lanes.of(TOPIC, "key"), 0));
		}
		return this.table.heads(connection, lanes, 1);
	}

	private int rows() throws SQLException {
		try (Connection connection = connect();
				Statement statement = connection.createStatement();
				var count = statement.executeQuery("select count(*) from outbox_event")) {
			count.next();
			return count.getInt(1);
		}
	}

	private static String text(SerializedEvent event) {
		return new String(event.payload(), StandardCharsets.UTF_8);
	}

	private static final class RecordingPublisher implements OutboxPublisher {

		private final List<String> published = new CopyOnWriteArrayList<>();

		private final List<Integer> batches = new CopyOnWriteArrayList<>();

		private final List<Integer> attempts = new CopyOnWriteArrayList<>();

		private volatile Function<SerializedEvent, Outcome> outcome = (event) -> new Outcome.Delivered();

		@Override
		public String prefix() {
			return "memory";
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			this.batches.add(events.size());
			List<Outcome> outcomes = new ArrayList<>();
			for (SerializedEvent event : events) {
				this.attempts.add(event.attempts());
				outcomes.add(this.outcome.apply(event));
				if (outcomes.get(outcomes.size() - 1) instanceof Outcome.Delivered) {
					this.published.add(text(event));
				}
			}
			return outcomes;
		}

	}

}
