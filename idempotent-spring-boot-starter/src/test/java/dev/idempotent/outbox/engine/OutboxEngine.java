package dev.idempotent.outbox.engine;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.engine.EventTable.Chunk;
import dev.idempotent.outbox.engine.EventTable.Claim;
import dev.idempotent.outbox.engine.EventTable.DueLane;
import dev.idempotent.outbox.engine.EventTable.Head;
import dev.idempotent.outbox.engine.EventTable.Look;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events. Commits wake it with their lanes. A worker reads the first rows of the
 * woken lanes, claims them, publishes them outside of a transaction, settles them, and
 * looks at the same lanes again. A scan wakes it with the lanes that nobody woke here.
 * <p>
 * The order of a lane needs neither lock nor lease: its first row stays the first until
 * its deletion commits, and it is deleted only after its publication was confirmed.
 */
class OutboxEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(OutboxEngine.class);

	private static final Duration IDLE = Duration.ofSeconds(1);

	private static final Duration FOREVER = Duration.ofDays(36_500);

	private static final int REMEMBERED = 10_000;

	private final EventTable table;

	private final Connector connector;

	private final OutboxPublisher publisher;

	private final Settings settings;

	private final WakeSet wakes = new WakeSet(REMEMBERED);

	private final Map<Long, SerializedEvent> lastDelivered = new LinkedHashMap<>(16, 0.75F, true) {

		@Override
		protected boolean removeEldestEntry(Map.Entry<Long, SerializedEvent> eldest) {
			return size() > REMEMBERED;
		}

	};

	private final Set<String> paused = ConcurrentHashMap.newKeySet();

	private final List<Thread> threads = new ArrayList<>();

	/** Claims whose settlement found another attempt. */
	final LongAdder overtaken = new LongAdder();

	final LongAdder passes = new LongAdder();

	private volatile boolean running = true;

	private final AtomicInteger outages = new AtomicInteger();

	private volatile boolean rescan;

	OutboxEngine(EventTable table, Connector connector, OutboxPublisher publisher, Settings settings) {
		this.table = table;
		this.connector = connector;
		this.publisher = publisher;
		this.settings = settings;
	}

	void start() {
		for (int i = 1; i <= this.settings.workers(); i++) {
			start("outbox-worker-" + i, new Task(this::deliverWoken));
		}
		if (this.settings.scanInterval().toDays() < 1) {
			start("outbox-scan", new Task(new Scan()::next));
		}
	}

	private void start(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	/**
	 * Called after a commit.
	 * @param row the lowest row that it inserted into this lane
	 */
	void wake(long lane, long row) {
		this.wakes.add(lane, row);
	}

	void pause(String topic) {
		this.paused.add(topic);
	}

	void resume(String topic) {
		this.paused.remove(topic);
		this.rescan = true;
	}

	@Override
	public void close() {
		this.running = false;
		try {
			for (Thread thread : this.threads) {
				thread.join();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private void deliverWoken(Connection connection) throws SQLException, InterruptedException {
		NavigableMap<Long, Long> lanes = this.wakes.take((this.outages.get() > 0) ? 1 : this.settings.batch(), IDLE);
		try {
			if (!lanes.isEmpty()) {
				deliver(connection, lanes);
			}
		}
		catch (SQLException ex) {
			lanes.forEach((lane, row) -> this.wakes.add(lane, 0));
			throw ex;
		}
	}

	private void deliver(Connection connection, NavigableMap<Long, Long> lanes) throws SQLException {
		List<Head> certain = new ArrayList<>();
		List<Head> suspects = new ArrayList<>();
		for (List<Head> rows : first(connection, lanes)) {
			Head head = rows.get(0);
			if (head.attempts() > 0) {
				suspects.add(head);
			}
			else {
				rows.stream().takeWhile((row) -> row.due() && row.attempts() == 0).forEach(certain::add);
			}
		}
		attempt(connection, certain);
		for (Head suspect : suspects) {
			// Alone, because its last attempt may have killed its process.
			attempt(connection, List.of(suspect));
		}
	}

	/**
	 * The first rows of the lanes whose first row can be sent now.
	 */
	private Collection<List<Head>> first(Connection connection, NavigableMap<Long, Long> lanes) throws SQLException {
		Map<Long, SerializedEvent> behind = behind(lanes);
		List<Look> looks = new ArrayList<>();
		lanes.forEach((lane, row) -> {
			SerializedEvent delivered = behind.get(lane);
			looks.add(new Look(lane, (delivered != null) ? Math.min(row - 1, delivered.sequence()) : 0));
		});
		Map<Long, List<Head>> first = byLane(this.table.heads(connection, looks, this.settings.run()));
		List<Look> again = new ArrayList<>();
		behind.forEach((lane, delivered) -> {
			List<Head> rows = first.get(lane);
			if (rows != null) {
				if (follows(rows.get(0), delivered)) {
					rows.removeIf((row) -> !follows(row, delivered));
				}
				else {
					first.remove(lane);
					again.add(new Look(lane, 0));
				}
			}
		});
		if (!again.isEmpty()) {
			again.sort((one, other) -> Long.compare(one.lane(), other.lane()));
			first.putAll(byLane(this.table.heads(connection, again, this.settings.run())));
		}
		first.values().removeIf((rows) -> !rows.get(0).due() || this.paused.contains(rows.get(0).topic()));
		first.values().forEach((rows) -> rows.removeIf((row) -> this.paused.contains(row.topic())));
		return new TreeMap<>(first).values();
	}

	/**
	 * The delivered events behind which to look, because a search from the first row
	 * would read deleted rows that an old snapshot keeps.
	 */
	Map<Long, SerializedEvent> behind(Map<Long, Long> lanes) {
		Map<Long, SerializedEvent> behind = new LinkedHashMap<>();
		synchronized (this.lastDelivered) {
			lanes.forEach((lane, row) -> {
				SerializedEvent delivered = this.lastDelivered.get(lane);
				if (delivered != null && row > 0) {
					behind.put(lane, delivered);
				}
			});
		}
		return behind;
	}

	/**
	 * Whether no row can be between a row that a search behind a delivered one has found
	 * and that one. Another key of the lane may have an earlier row that committed later.
	 */
	boolean follows(Head row, SerializedEvent delivered) {
		return row.id() > delivered.sequence() && row.topic().equals(delivered.topic())
				&& Objects.equals(row.key(), delivered.key());
	}

	private static Map<Long, List<Head>> byLane(List<Head> heads) {
		Map<Long, List<Head>> lanes = new LinkedHashMap<>();
		heads.forEach((head) -> lanes.computeIfAbsent(head.lane(), (lane) -> new ArrayList<>()).add(head));
		return lanes;
	}

	private void attempt(Connection connection, List<Head> heads) throws SQLException {
		if (heads.isEmpty()) {
			return;
		}
		long deadline = System.nanoTime() + this.settings.lease().toNanos() / 2;
		Settlement settlement = new Settlement();
		List<Claim> claims = runs(heads, this.table.claim(connection, heads, this.settings.lease()), settlement);
		claims.removeIf((claim) -> {
			boolean exhausted = claim.token() > this.settings.attempts();
			if (exhausted) {
				settlement.failed(claim);
			}
			return exhausted;
		});
		publish(claims, deadline, settlement);
		settlement.commit(connection);
	}

	/**
	 * The claims up to the first row of each lane that could not be claimed.
	 */
	private static List<Claim> runs(List<Head> heads, List<Claim> claims, Settlement settlement) {
		Map<Long, Long> rest = new HashMap<>();
		Set<Long> claimed = new HashSet<>();
		claims.forEach((claim) -> claimed.add(claim.id()));
		heads.forEach((head) -> {
			if (!claimed.contains(head.id())) {
				rest.merge(head.lane(), head.id(), Math::min);
			}
		});
		List<Claim> runs = new ArrayList<>();
		for (Claim claim : claims) {
			if (claim.id() < rest.getOrDefault(claim.lane(), Long.MAX_VALUE)) {
				runs.add(claim);
			}
			else {
				settlement.release(claim);
			}
		}
		return runs;
	}

	private void publish(List<Claim> claims, long deadline, Settlement settlement) {
		if (claims.isEmpty()) {
			return;
		}
		if (System.nanoTime() - deadline >= 0) {
			claims.forEach(settlement::release);
			return;
		}
		try {
			List<Outcome> outcomes = this.publisher.publish(claims.stream().map(Claim::event).toList());
			settlement.record(claims, outcomes);
		}
		catch (RuntimeException ex) {
			if (claims.size() == 1) {
				settlement.failed(claims.get(0));
				return;
			}
			for (Claim claim : claims) {
				if (settlement.hasStopped(claim.lane())) {
					settlement.release(claim);
				}
				else {
					publish(List.of(claim), deadline, settlement);
				}
			}
		}
	}

	/**
	 * What is to be done with the claims of one attempt.
	 */
	private final class Settlement {

		private final List<Claim> delivered = new ArrayList<>();

		private final List<Claim> released = new ArrayList<>();

		private final List<Claim> failed = new ArrayList<>();

		private final Set<Long> stopped = new HashSet<>();

		private boolean outage;

		void record(List<Claim> claims, List<Outcome> outcomes) {
			for (int i = 0; i < claims.size(); i++) {
				Claim claim = claims.get(i);
				if (outcomes.get(i) instanceof Outcome.Delivered) {
					this.delivered.add(claim);
				}
				else if (hasStopped(claim.lane())) {
					release(claim);
				}
				else if (outcomes.get(i) instanceof Outcome.Unavailable) {
					this.outage = true;
					release(claim);
				}
				else {
					failed(claim);
				}
			}
		}

		boolean hasStopped(long lane) {
			return this.stopped.contains(lane);
		}

		void release(Claim claim) {
			this.stopped.add(claim.lane());
			this.released.add(claim);
		}

		void failed(Claim claim) {
			this.stopped.add(claim.lane());
			this.failed.add(claim);
		}

		void commit(Connection connection) throws SQLException {
			OutboxEngine engine = OutboxEngine.this;
			int settled = engine.table.delete(connection, this.delivered);
			engine.overtaken.add(this.delivered.size() - settled);
			remember();
			engine.table.release(connection, this.released);
			for (Claim claim : this.failed) {
				boolean exhausted = claim.token() >= engine.settings.attempts();
				engine.table.retry(connection, List.of(claim), exhausted ? FOREVER : backoff(claim.token()));
			}
			lookAgain();
		}

		private void remember() {
			synchronized (OutboxEngine.this.lastDelivered) {
				this.delivered.forEach((claim) -> {
					if (claim.event().key() != null) {
						OutboxEngine.this.lastDelivered.put(claim.lane(), claim.event());
					}
				});
			}
		}

		/**
		 * Other wakes of these lanes were dropped while they were claimed.
		 */
		private void lookAgain() {
			OutboxEngine engine = OutboxEngine.this;
			Map<Long, Long> last = new HashMap<>();
			this.delivered.forEach((claim) -> last.put(claim.lane(), claim.id()));
			last.keySet().removeIf(this::hasStopped);
			last.forEach((lane, row) -> engine.wakes.add(lane, row + 1));
			this.released.forEach((claim) -> engine.wakes.add(claim.lane(), claim.id()));
			if (this.outage) {
				pauseOf(Math.min(1_000, 25L << Math.min(engine.outages.incrementAndGet(), 6)));
			}
			else if (!this.delivered.isEmpty()) {
				engine.outages.set(0);
			}
		}

	}

	private Duration backoff(int attempt) {
		long most = this.settings.backoff().toMillis() << Math.min(attempt, 9);
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(most) + 1);
	}

	private static void pauseOf(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Passes over the table in the order of lanes, again and again. Takes 5 % of the time
	 * of a connection; up to 50 % if a pass would take too long otherwise.
	 */
	private final class Scan {

		private static final int CHUNK = 5_000;

		private static final double LEAST = 0.05;

		private static final double MOST = 0.5;

		private long position = Long.MIN_VALUE;

		private double lastBusy = Double.MAX_VALUE;

		private double busy;

		void next(Connection connection) throws SQLException, InterruptedException {
			OutboxEngine engine = OutboxEngine.this;
			engine.wakes.awaitRoom(IDLE);
			long begin = System.nanoTime();
			Chunk chunk = engine.table.scan(connection, this.position, CHUNK);
			long took = System.nanoTime() - begin;
			this.busy += took;
			int woken = 0;
			long behind = (chunk.last() != null) ? chunk.last().lane() : Long.MAX_VALUE;
			for (DueLane lane : chunk.due()) {
				if (engine.paused.contains(lane.topic())) {
					behind = Math.max(behind, Lanes.lastOfTopic(lane.lane()));
				}
				else {
					engine.wakes.add(lane.lane(), lane.id());
					woken++;
				}
			}
			if (chunk.last() != null && engine.paused.contains(chunk.last().topic())) {
				behind = Math.max(behind, Lanes.lastOfTopic(chunk.last().lane()));
			}
			this.position = behind;
			if (chunk.end()) {
				endPass();
			}
			else if (woken < CHUNK / 50) {
				pauseOf((long) (took / 1e6 * (1 / share() - 1)));
			}
		}

		/**
		 * The share of time that lets a pass end within five intervals.
		 */
		private double share() {
			double target = 5.0 * OutboxEngine.this.settings.scanInterval().toNanos();
			return Math.max(LEAST, Math.min(MOST, Math.max(this.lastBusy, this.busy) / target));
		}

		private void endPass() {
			OutboxEngine engine = OutboxEngine.this;
			Duration interval = engine.settings.scanInterval();
			this.lastBusy = this.busy;
			this.busy = 0;
			this.position = Long.MIN_VALUE;
			engine.passes.increment();
			long end = System.nanoTime()
					+ (long) (interval.toNanos() * (0.75 + ThreadLocalRandom.current().nextDouble(0.5)));
			while (engine.running && !engine.rescan && System.nanoTime() - end < 0) {
				pauseOf(10);
			}
			engine.rescan = false;
		}

	}

	/**
	 * Repeats a step on one connection, which is replaced after a failure.
	 */
	private final class Task implements Runnable {

		private final Step step;

		private @Nullable Connection connection;

		private int failures;

		Task(Step step) {
			this.step = step;
		}

		@Override
		public void run() {
			while (OutboxEngine.this.running) {
				try {
					this.step.run(connection());
					this.failures = 0;
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
					break;
				}
				catch (SQLException | RuntimeException ex) {
					logger.warn("The database failed: {}", ex.toString());
					disconnect();
					pauseOf(Math.min(1_000, 25L << Math.min(this.failures++, 6)));
				}
			}
			disconnect();
		}

		private Connection connection() throws SQLException {
			if (this.connection == null) {
				this.connection = OutboxEngine.this.connector.connect();
				OutboxEngine.this.table.prepare(this.connection);
			}
			return this.connection;
		}

		private void disconnect() {
			try {
				if (this.connection != null) {
					this.connection.close();
				}
			}
			catch (SQLException ex) {
				logger.debug("A connection could not be closed", ex);
			}
			this.connection = null;
		}

	}

	interface Step {

		void run(Connection connection) throws SQLException, InterruptedException;

	}

	/**
	 * Opens the connections of workers, which are not those of the application's pool.
	 */
	interface Connector {

		Connection connect() throws SQLException;

	}

	/**
	 * Settings.
	 *
	 * @param run how many rows of a lane are sent at once; 1 unless the publisher keeps
	 * their order and stops at the first that it cannot deliver
	 * @param attempts after which an event blocks its lane
	 */
	record Settings(int workers, int batch, int run, Duration lease, Duration scanInterval, int attempts,
			Duration backoff) {
	}

}
