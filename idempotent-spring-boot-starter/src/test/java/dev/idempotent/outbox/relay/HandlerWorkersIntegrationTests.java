package dev.idempotent.outbox.relay;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.NewEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import dev.idempotent.testing.Patience;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How the workers of a handler claim what they handle.
 */
@Timeout(180)
@ParameterizedClass(name = "{0}")
@EnumSource(TestedDatabase.class)
class HandlerWorkersIntegrationTests {

	private static final String TOPIC = "handlers:test";

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	private final List<Shop> shops = new ArrayList<>();

	private final List<Thread> threads = new ArrayList<>();

	private final List<HandlerWorkers> instances = new ArrayList<>();

	private final Handler handler = new Handler();

	@AfterEach
	void close() throws InterruptedException {
		this.handler.free.countDown();
		this.instances.forEach(HandlerWorkers::abandon);
		for (Thread thread : this.threads) {
			thread.join();
		}
		this.shops.get(0).forgetAll();
		this.shops.forEach(Shop::close);
	}

	private Claims open() {
		Shop shop = Shop.open(this.database.properties(postgres, "handler-workers"), Shop.SELDOM,
				"idempotent.outbox.relay.enabled=false");
		this.shops.add(shop);
		return new Claims(shop.bean(DataSource.class));
	}

	private HandlerWorkers workers(EventTable table) {
		HandlerWorkers workers = new HandlerWorkers(this.handler,
				new Rules(table, (topic) -> false, new TestSettings(), (event, reason) -> Optional.empty()),
				PausedTopicsTests.none(), new RecoveryTurn(), new OutboxObserver() {
				}, (failure) -> {
				}, () -> {
				});
		this.instances.add(workers);
		return workers;
	}

	private Thread start(HandlerWorkers workers) {
		return start(() -> deliver(workers));
	}

	private Thread start(Runnable work) {
		Thread thread = new Thread(work);
		this.threads.add(thread);
		thread.start();
		return thread;
	}

	private static void deliver(HandlerWorkers workers) {
		try {
			boolean unused = workers.deliverWoken();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Starts workers that wait while the first one claims.
	 */
	private void startOthers(HandlerWorkers workers, int count) {
		List<Thread> others = IntStream.range(0, count).mapToObj((i) -> start(workers)).toList();
		others.forEach((thread) -> await().until(() -> thread.getState() == Thread.State.TIMED_WAITING));
	}

	private List<Row> append(EventTable table, String... types) {
		return appendTo(table, null, types);
	}

	private List<Row> appendTo(EventTable table, @Nullable String key, String... types) {
		List<Row> rows = new ArrayList<>();
		this.shops.get(0)
			.inTransaction(
					(status) -> rows
						.addAll(table.append(Stream.of(types)
							.map((type) -> new NewEvent(OutboxSamples.event(TOPIC, key, type,
									type.getBytes(StandardCharsets.UTF_8), Map.of()), key != null, null))
							.toList())));
		return rows;
	}

	private static void wake(HandlerWorkers workers, List<Row> rows) {
		rows.forEach((row) -> assertThat(workers.wake(new LaneSignal(row.lane(), row.id(), row.topic(), 0))).isTrue());
	}

	private List<Integer> attempts() {
		return this.shops.get(0)
			.database()
			.sql("select attempts from relay_event order by attempts")
			.query(Integer.class)
			.list();
	}

	/**
	 * A row is claimed only if a worker can begin with it at once, so others can wait for
	 * a slow one neither here nor in another instance.
	 */
	@Test
	void claimARowForEachFreeWorkerByOneStatement() {
		Claims table = open();
		HandlerWorkers workers = workers(table);
		this.handler.slow.add("slow");
		wake(workers, append(table, "slow"));
		table.block();
		start(workers);
		table.awaitBlocked();
		wake(workers, append(table, "a", "b", "c", "d", "e"));
		startOthers(workers, 3);
		this.handler.meet = new CyclicBarrier(3);
		table.release();
		await().untilAsserted(() -> assertThat(this.handler.handled).hasSize(3));
		assertThat(table.sizes).containsExactly(1, 3);
		await().untilAsserted(() -> assertThat(attempts()).containsExactly(0, 0, 1));
	}

	/**
	 * Of the rows that a process has claimed when it dies, one may be the reason.
	 */
	@Test
	void claimARowAloneWhoseLastAttemptDidNotEnd() {
		Claims table = open();
		HandlerWorkers workers = workers(table);
		List<Row> rows = append(table, "a", "b", "c");
		this.shops.get(0)
			.database()
			.sql("update relay_event set attempts = 1, due_at = timestamp '2001-01-01 00:00:00'")
			.update();
		wake(workers, append(table, "fresh"));
		table.block();
		start(workers);
		table.awaitBlocked();
		wake(workers, rows);
		startOthers(workers, 3);
		table.release();
		await().untilAsserted(() -> {
			deliver(workers);
			assertThat(attempts()).isEmpty();
		});
		assertThat(table.sizes).containsExactly(1, 1, 1, 1);
	}

	/**
	 * As if the hashes of two keys were equal.
	 */
	@Test
	void claimNothingOfAnotherHandlerWithWhichTheyShareALane() {
		Claims table = open();
		HandlerWorkers workers = workers(table);
		List<Row> rows = appendTo(table, "key", "a", "b");
		this.shops.get(0)
			.database()
			.sql("update relay_event set topic = 'handlers:other' where id = ?")
			.param(rows.get(0).id())
			.update();
		wake(workers, rows);
		deliver(workers);
		assertThat(attempts()).containsExactly(0, 0);
		this.shops.get(0).database().sql("delete from relay_event where topic = 'handlers:other'").update();
		wake(workers, rows.subList(1, 2));
		deliver(workers);
		assertThat(attempts()).isEmpty();
		assertThat(this.handler.handled).containsExactly("b");
	}

	@Test
	void giveAttemptsBackThatHaveNotBegunWhenTheyStop() {
		Claims table = open();
		HandlerWorkers workers = workers(table);
		claimForThree(table, workers, append(table, "a", "b", "c"));
		workers.abandon();
		table.release();
		await().untilAsserted(() -> assertThat(attempts()).containsExactly(0, 0, 0));
		await().until(() -> !workers.isUnfinished());
		assertThat(this.handler.handled).isEmpty();
	}

	@Test
	void beginNothingAfterHalfOfTheLease() {
		this.handler.lease = Duration.ofMillis(200);
		Claims table = open();
		HandlerWorkers workers = workers(table);
		wake(workers, append(table, "late"));
		table.block();
		start(workers);
		table.awaitBlocked();
		long claimed = System.nanoTime();
		await().until(() -> System.nanoTime() - claimed > TimeUnit.MILLISECONDS.toNanos(100));
		table.release();
		await().untilAsserted(() -> assertThat(attempts()).containsExactly(0));
		assertThat(this.handler.handled).isEmpty();
	}

	/**
	 * As by a call without a time-out, for longer than the lease.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void neverBeginAnEventThatTheyStillHandle(boolean unclaimed) {
		this.handler.lease = Duration.ofSeconds(1);
		this.handler.slow.add("slow");
		Claims table = open();
		HandlerWorkers workers = workers(table);
		List<Row> rows = append(table, "slow");
		this.handler.unclaimed = unclaimed;
		wake(workers, rows);
		start(() -> deliverAll(workers));
		await().untilAsserted(() -> assertThat(this.handler.hanging).hasSize(1));
		long begun = System.nanoTime();
		await().until(() -> System.nanoTime() - begun > this.handler.lease.toNanos());
		this.handler.unclaimed = false;
		wake(workers, rows);
		start(workers);
		this.handler.lease = Duration.ofMinutes(10);
		HandlerWorkers second = workers(open());
		await().until(() -> !this.threads.get(1).isAlive() || this.handler.hanging.size() > 1);
		assertThat(this.handler.hanging).hasSize(1);
		wake(workers, append(table, "a"));
		deliver(workers);
		assertThat(this.handler.handled).containsExactly("a");
		wake(second, rows);
		start(second);
		await().untilAsserted(() -> assertThat(this.handler.hanging).hasSize(2));
	}

	/**
	 * Blocks behind the claim, before any of the rows is handled.
	 */
	private void claimForThree(Claims table, HandlerWorkers workers, List<Row> rows) {
		table.block();
		wake(workers, append(table, "first"));
		start(workers);
		table.awaitBlocked();
		wake(workers, rows);
		startOthers(workers, 3);
		table.blockAgain();
		await().untilAsserted(() -> assertThat(table.sizes).containsExactly(1, 3));
		await().untilAsserted(() -> assertThat(this.handler.handled).containsExactly("first"));
		this.handler.handled.clear();
		await().untilAsserted(() -> assertThat(attempts()).containsExactly(1, 1, 1));
	}

	/**
	 * The network may have lost the reply, and the driver may have no time-out.
	 */
	@Test
	void goOnBesideAClaimThatIsNotAnswered() {
		this.handler.lease = Duration.ofSeconds(1);
		Claims table = open();
		HandlerWorkers workers = workers(table);
		wake(workers, append(table, "unanswered"));
		table.block();
		start(workers);
		table.awaitBlocked();
		start(() -> deliverAll(workers));
		start(() -> deliverAll(workers));
		CountDownLatch answer = table.blockOnlyThis();
		wake(workers, append(table, "a", "b"));
		await().untilAsserted(() -> assertThat(this.handler.handled).containsExactlyInAnyOrder("a", "b"));
		answer.countDown();
	}

	@Test
	void keepTheOrderOfEachKeyWithManyWorkersOfTwoInstances() {
		List<Claims> tables = List.of(open(), open());
		tables.forEach(this::workers);
		Map<String, List<String>> handled = new ConcurrentHashMap<>();
		this.handler.handling = (event) -> handled
			.computeIfAbsent(Objects.requireNonNull(event.key()), (key) -> new CopyOnWriteArrayList<>())
			.add(event.type());
		this.instances.forEach((each) -> IntStream.range(0, 8).forEach((i) -> start(() -> deliverAll(each))));
		String[] types = IntStream.range(0, 10).mapToObj(Integer::toString).toArray(String[]::new);
		for (int from = 0; from < types.length; from += 2) {
			for (int key = 0; key < 20; key++) {
				int instance = (from / 2 + key) % 2;
				List<Row> rows = appendTo(tables.get(instance), "key-" + key,
						Arrays.copyOfRange(types, from, from + 2));
				this.instances.forEach((each) -> wake(each, rows));
			}
		}
		await().pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
			// As their scans do.
			this.instances.forEach((each) -> wake(each, due()));
			assertThat(attempts()).isEmpty();
		});
		assertThat(handled).hasSize(20).allSatisfy((key, events) -> assertThat(events).containsExactly(types));
	}

	private static void deliverAll(HandlerWorkers workers) {
		while (workers.isUnfinished()) {
			try {
				deliver(workers);
			}
			catch (DataAccessException ex) {
				// As a relay does, which wakes the lane again.
			}
		}
	}

	private List<Row> due() {
		return this.shops.get(0)
			.database()
			.sql("select lane, min(id) as first from relay_event group by lane")
			.query((row, number) -> new Row(row.getLong("lane"), row.getLong("first"), TOPIC))
			.list();
	}

	/**
	 * Records how many rows each statement has claimed, and can block behind it.
	 */
	private static final class Claims extends EventTable {

		private final List<Integer> sizes = new CopyOnWriteArrayList<>();

		private volatile CountDownLatch blocked = new CountDownLatch(0);

		private volatile CountDownLatch released = new CountDownLatch(0);

		Claims(DataSource dataSource) {
			super(new OwnTransactions(dataSource), "relay_", PayloadEncryption.NONE);
		}

		@Override
		public List<ClaimedEvent> claim(List<QueuedEvent> heads, Duration lease, int attempts) {
			CountDownLatch end = this.released;
			List<ClaimedEvent> claims = super.claim(heads, lease, attempts);
			if (!claims.isEmpty()) {
				this.sizes.add(claims.size());
				this.blocked.countDown();
				Patience.await(end);
			}
			return claims;
		}

		void block() {
			this.blocked = new CountDownLatch(1);
			this.released = new CountDownLatch(1);
		}

		/**
		 * Lets the later claims pass.
		 * @return lets the one that is blocked go on, too
		 */
		CountDownLatch blockOnlyThis() {
			CountDownLatch first = this.released;
			this.released = new CountDownLatch(0);
			return first;
		}

		void awaitBlocked() {
			Patience.await(this.blocked);
		}

		/**
		 * Lets the claim that is blocked go on, and blocks the next one.
		 */
		void blockAgain() {
			CountDownLatch first = this.released;
			this.released = new CountDownLatch(1);
			first.countDown();
		}

		void release() {
			this.released.countDown();
		}

	}

	/**
	 * Handles events without a transaction.
	 */
	private static final class Handler extends TestHandler {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		private final Set<String> slow = ConcurrentHashMap.newKeySet();

		private final List<String> hanging = new CopyOnWriteArrayList<>();

		private volatile boolean unclaimed;

		private final CountDownLatch free = new CountDownLatch(1);

		private volatile Duration lease = Duration.ofMinutes(10);

		private volatile @Nullable CyclicBarrier meet;

		private volatile Consumer<SerializedEvent> handling = (event) -> {
		};

		@Override
		public String topic() {
			return TOPIC;
		}

		@Override
		public Duration lease() {
			return this.lease;
		}

		@Override
		public boolean handlesUnclaimed() {
			return this.unclaimed;
		}

		@Override
		public @Nullable Attempt handleUnclaimed(QueuedEvent head, Consumer<Throwable> failures) {
			this.hanging.add("unclaimed");
			Patience.await(this.free);
			return null;
		}

		@Override
		public Outcome handle(ClaimedEvent claim, Consumer<Throwable> failures) {
			String type = claim.event().type();
			if (this.slow.contains(type)) {
				this.hanging.add(type);
				Patience.await(this.free);
				return new Outcome.Delivered();
			}
			CyclicBarrier others = this.meet;
			if (others != null) {
				try {
					others.await(60, TimeUnit.SECONDS);
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			}
			this.handled.add(type);
			this.handling.accept(claim.event());
			return new Outcome.Delivered();
		}

	}

	private static final class TestSettings implements RelaySettings {

		@Override
		public int batchSize() {
			return 500;
		}

		@Override
		public DataSize batchMemory() {
			return DataSize.ofMegabytes(8);
		}

		@Override
		public int workers() {
			return 1;
		}

		@Override
		public Duration lease() {
			return Duration.ofMinutes(10);
		}

		@Override
		public Duration scanInterval() {
			return Duration.ofHours(1);
		}

		@Override
		public int attempts() {
			return 10;
		}

		@Override
		public Duration backoff() {
			return Duration.ofMillis(20);
		}

		@Override
		public Duration maxBackoff() {
			return Duration.ofSeconds(1);
		}

		@Override
		public Duration drainTimeout() {
			return Duration.ofSeconds(10);
		}

	}

}
