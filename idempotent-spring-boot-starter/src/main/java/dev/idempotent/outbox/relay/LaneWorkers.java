package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.QueuedEvent;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one publisher or handler, each on a thread of its own, so that a slow
 * one does not delay the others. A worker takes the lanes that were woken, reads their
 * first rows in one snapshot, claims them, delivers them outside of the transaction that
 * has claimed them, settles them, and looks at the same lanes again.
 * <p>
 * The order of a lane needs neither lock nor lease: its first row stays the first until
 * its deletion commits, and it is deleted only after its delivery was confirmed.
 */
abstract class LaneWorkers {

	static final Duration MAX_WAIT = Duration.ofSeconds(1);

	private static final int REMEMBERED_LANES = 10_000;

	private static final long PAUSE_MILLIS = 100;

	private static final Logger logger = LoggerFactory.getLogger(LaneWorkers.class);

	private final String name;

	private final Rules rules;

	private final EventTable table;

	private final OutboxObserver observer;

	private final PausedTopics paused;

	private final LaneQueue queue = new LaneQueue(REMEMBERED_LANES);

	private final LaneReader reader;

	private final CircuitBreakers circuits;

	private final Duration lease;

	private final int batchSize;

	private volatile boolean draining;

	private volatile boolean abandoned;

	/**
	 * Creates workers without threads.
	 * @param name the prefix of the publisher, or the topic of the handler
	 * @param batchSize how many events are claimed by one statement at most
	 * @param onRecovery called when events that were not kept in memory can be delivered
	 * again
	 */
	LaneWorkers(String name, Rules rules, PausedTopics paused, OutboxObserver observer, Duration lease, int batchSize,
			Runnable onRecovery) {
		this.name = name;
		this.rules = rules;
		this.table = rules.table();
		this.paused = paused;
		this.observer = observer;
		this.lease = lease;
		this.batchSize = batchSize;
		this.reader = new LaneReader(this.table, REMEMBERED_LANES);
		this.circuits = new CircuitBreakers(name, paused, this.queue, onRecovery);
	}

	/**
	 * Returns the workers that deliver to a topic: the workers of its handler, or of its
	 * publisher.
	 * @return {@code null} if there are none
	 */
	static @Nullable LaneWorkers of(String topic, Map<String, LaneWorkers> all) {
		LaneWorkers own = all.get(topic);
		return (own != null) ? own : all.get(OutboxTopics.publisher(topic));
	}

	/**
	 * How many threads repeat {@link #deliverWoken()}.
	 */
	abstract int threads();

	/**
	 * Creates one of these threads.
	 */
	Thread newThread(Runnable work) {
		return new Thread(work);
	}

	/**
	 * Delivers the first events of some woken lanes.
	 * @return whether there were any
	 */
	abstract boolean deliverWoken() throws InterruptedException;

	/**
	 * Delivers the first events of lanes, or prepares to.
	 * @param probe whether to deliver to unavailable destinations, too
	 */
	abstract void process(Map<Long, LaneSignal> lanes, boolean probe);

	/**
	 * Whether the events of a topic are theirs: topics can share a lane.
	 */
	abstract boolean serves(String topic);

	/**
	 * Whether an event is not to be attempted together with others.
	 */
	abstract boolean isToBeAlone(QueuedEvent row);

	/**
	 * Sends claimed events, and adds the outcome of each to the settlement.
	 * @param claims at least one
	 * @param sending whether there is time to send events
	 */
	abstract void send(List<ClaimedEvent> claims, BooleanSupplier sending, BatchSettlement settlement);

	/**
	 * How long a scan waits for room.
	 */
	abstract Duration waitForRoom();

	final String name() {
		return this.name;
	}

	final Rules rules() {
		return this.rules;
	}

	final Duration lease() {
		return this.lease;
	}

	final int batchSize() {
		return this.batchSize;
	}

	final LaneQueue queue() {
		return this.queue;
	}

	final CircuitBreakers circuits() {
		return this.circuits;
	}

	final boolean isAbandoned() {
		return this.abandoned;
	}

	/**
	 * Looks at a lane, unless its topic is paused or unavailable, or there are too many
	 * lanes to look at.
	 * @return {@code false} if there are too many
	 */
	boolean wake(LaneSignal signal) {
		return this.draining || keepsBack(signal) || this.queue.add(signal);
	}

	/**
	 * Whether the topic is paused or unavailable. If it is unavailable, the lane is kept
	 * for a probe.
	 */
	final boolean keepsBack(LaneSignal signal) {
		return this.paused.contains(signal.topic())
				|| (!this.circuits.isClosed(signal.topic()) && this.circuits.keep(signal));
	}

	/**
	 * Waits until there is room for lanes, while lanes are being taken.
	 * @return whether there is
	 */
	final boolean awaitRoom() throws InterruptedException {
		return this.queue.awaitRoom(waitForRoom());
	}

	/**
	 * Accepts no more lanes. The workers end when those that are woken are delivered.
	 */
	final void drain() {
		this.draining = true;
		this.queue.stop();
		this.circuits.stop();
	}

	/**
	 * Sends nothing more.
	 */
	final void abandon() {
		this.abandoned = true;
		drain();
	}

	/**
	 * Whether there may be something to deliver.
	 */
	boolean isUnfinished() {
		return !this.draining || (!this.abandoned && !this.queue.isEmpty());
	}

	/**
	 * Takes lanes from the queue, and delivers their first events.
	 * @param most how many lanes
	 * @return whether there were any
	 */
	final boolean deliverWoken(int most) {
		Map<Long, LaneSignal> lanes = new TreeMap<>();
		this.queue.take(most)
			.stream()
			.filter((signal) -> !keepsBack(signal))
			.forEach((signal) -> lanes.put(signal.lane(), signal));
		if (lanes.isEmpty() || this.abandoned) {
			return false;
		}
		wakeAgainIfItFails(lanes.values(), () -> process(lanes, false));
		return true;
	}

	final void wakeAgainIfItFails(Collection<LaneSignal> lanes, Runnable delivery) {
		try {
			delivery.run();
		}
		catch (RuntimeException | Error ex) {
			lanes.forEach((signal) -> this.queue.add(signal.fromStart()));
			if (this.draining) {
				this.abandoned = true;
			}
			throw ex;
		}
	}

	/**
	 * Delivers one event to find out whether its destination is available.
	 * @return whether there was one
	 */
	final boolean probe() throws InterruptedException {
		LaneSignal signal = this.circuits.awaitProbe(MAX_WAIT);
		if (signal == null || this.draining) {
			return false;
		}
		try {
			probe(signal);
			return true;
		}
		catch (RuntimeException | Error ex) {
			this.circuits.keep(signal);
			throw ex;
		}
	}

	void probe(LaneSignal signal) {
		process(Map.of(signal.lane(), signal.fromStart()), true);
	}

	final Collection<List<QueuedEvent>> firstOf(Map<Long, LaneSignal> lanes, int limit) {
		return this.reader.read(lanes, limit);
	}

	/**
	 * Divides rows into batches of limited number and size. A run of one lane ends before
	 * a row that is not due or is to be alone.
	 * @param runs the first rows of lanes
	 */
	final List<List<QueuedEvent>> batches(Collection<List<QueuedEvent>> runs) {
		List<List<QueuedEvent>> batches = new ArrayList<>();
		List<QueuedEvent> batch = new ArrayList<>();
		long bytes = 0;
		for (List<QueuedEvent> rows : runs) {
			if (!fits(rows.get(0), batch, bytes)) {
				batches.add(batch);
				batch = new ArrayList<>();
				bytes = 0;
			}
			for (QueuedEvent row : rows) {
				if (!row.due() || isToBeAlone(row) || !fits(row, batch, bytes)) {
					break;
				}
				batch.add(row);
				bytes += row.bytes();
			}
		}
		if (!batch.isEmpty()) {
			batches.add(batch);
		}
		return batches;
	}

	private boolean fits(QueuedEvent row, List<QueuedEvent> batch, long bytes) {
		return batch.isEmpty() || (batch.size() < this.batchSize
				&& bytes + row.bytes() <= this.rules.settings().batchMemory().toBytes());
	}

	/**
	 * The rows that can be sent now.
	 */
	List<QueuedEvent> sendable(List<QueuedEvent> rows, boolean probe) {
		return rows.stream()
			.filter((row) -> !this.abandoned && serves(row.topic()))
			.filter((row) -> probe ? !this.paused.contains(row.topic())
					: !keepsBack(new LaneSignal(row.lane(), row.id(), row.topic(), 0)))
			.toList();
	}

	/**
	 * Claims rows by one statement.
	 * @param probe whether to send to unavailable destinations, too
	 */
	final Claimed claim(List<QueuedEvent> rows, boolean probe) {
		List<QueuedEvent> sendable = sendable(rows, probe);
		long begin = System.nanoTime();
		return new Claimed(sendable, this.table.claim(sendable, this.lease, this.rules.attempts()), begin);
	}

	/**
	 * Sends claimed rows and settles them.
	 */
	final void attempt(Claimed claimed, Map<Long, LaneSignal> lanes) {
		long nanos = this.lease.toNanos();
		BatchSettlement settlement = new BatchSettlement(this.rules);
		List<ClaimedEvent> claims = unbroken(claimed.rows(), claimed.claims(), settlement);
		BooleanSupplier sending = () -> !this.abandoned && System.nanoTime() - claimed.begin() < nanos / 2;
		long start = System.nanoTime();
		if (!claims.isEmpty()) {
			send(claims, sending, settlement);
		}
		long end = System.nanoTime();
		BatchResult result = store(settlement, claimed.begin() + nanos);
		report(settlement, result, Duration.ofNanos(end - start), end, lanes);
		lookAgain(settlement, claimed.rows());
	}

	/**
	 * The claims to send: of each lane those up to the first row that could not be
	 * claimed, or cannot be published.
	 */
	private List<ClaimedEvent> unbroken(List<QueuedEvent> rows, List<ClaimedEvent> claims, BatchSettlement settlement) {
		Map<List<Long>, ClaimedEvent> byPlace = byPlace(claims);
		List<ClaimedEvent> unbroken = new ArrayList<>();
		for (QueuedEvent row : rows) {
			ClaimedEvent claim = byPlace.get(row.place());
			if (claim == null) {
				settlement.stop(row.lane());
			}
			else if (settlement.isStopped(row.lane())) {
				settlement.release(claim);
			}
			else if (claim.event().attempts() > this.rules.attempts()) {
				settlement.addExhausted(claim);
			}
			else if (claim.undeliverable() != null) {
				settlement.add(claim, claim.undeliverable());
			}
			else {
				unbroken.add(claim);
			}
		}
		logUndeliverable(claims);
		return unbroken;
	}

	private static Map<List<Long>, ClaimedEvent> byPlace(List<ClaimedEvent> claims) {
		return claims.stream().collect(Collectors.toMap(ClaimedEvent::place, Function.identity()));
	}

	/**
	 * One line for a batch: with a missing key, no event of a backlog can be delivered.
	 */
	final void logUndeliverable(List<ClaimedEvent> claims) {
		List<Outcome.Retry> retries = claims.stream()
			.map(ClaimedEvent::undeliverable)
			.filter(Outcome.Retry.class::isInstance)
			.map(Outcome.Retry.class::cast)
			.toList();
		if (!retries.isEmpty()) {
			logger.warn("{} of {} events for {} cannot be delivered yet; the first one: {}", retries.size(),
					claims.size(), this.name, retries.get(0).reason());
		}
	}

	/**
	 * Stores outcomes. Repeats this during an outage of the database, since the rows are
	 * leased until then.
	 */
	final BatchResult store(BatchSettlement settlement, long end) {
		return repeat(end, settlement::store);
	}

	final <T> T repeat(long end, Supplier<T> storing) {
		while (true) {
			try {
				return storing.get();
			}
			catch (RuntimeException ex) {
				if (this.draining || System.nanoTime() - end >= 0) {
					logger.warn("The outcomes of a batch for {} could not be stored; it is delivered again, with the "
							+ "same event ids, once its leases end: {}", this.name, OutageLog.reason(ex));
					throw ex;
				}
				logger.debug("The outcomes of a batch could not be stored; this is repeated", ex);
				pause();
			}
		}
	}

	private static void pause() {
		try {
			Thread.sleep(PAUSE_MILLIS);
		}
		catch (InterruptedException ex) {
			// Only publishers and handlers interrupt the threads of a relay.
		}
	}

	final void report(BatchSettlement settlement, BatchResult result, Duration took, long confirmed,
			Map<Long, LaneSignal> lanes) {
		if (result.size() > 0) {
			this.observer.published(this.name, result, took);
		}
		for (ClaimedEvent claim : settlement.delivered()) {
			LaneSignal signal = lanes.get(claim.lane());
			if (signal != null && signal.committed() != 0 && signal.row() == claim.event().sequence()) {
				this.observer.delivered(this.name, Duration.ofNanos(confirmed - signal.committed()));
			}
		}
		if (result.dead() > 0) {
			logger.error("{} for {} became dead, or block their keys; see the actuator endpoint 'outbox'",
					(result.dead() == 1) ? "1 event" : result.dead() + " events", this.name);
		}
	}

	/**
	 * Looks at the rows behind those that were settled: signals of these lanes were
	 * dropped while their first rows were leased. An event without a key has no others
	 * behind it.
	 */
	final void lookAgain(BatchSettlement settlement, List<QueuedEvent> rows) {
		Set<List<Long>> delivered = byPlace(settlement.delivered()).keySet();
		Map<Long, QueuedEvent> last = new LinkedHashMap<>();
		for (QueuedEvent row : rows) {
			if (row.key() != null && delivered.contains(row.place())) {
				last.put(row.lane(), row);
			}
		}
		this.reader.delivered(last.values());
		last.forEach((lane, row) -> {
			if (!settlement.isStopped(lane)) {
				lookAt(lane, row.id() + 1, row.topic());
			}
		});
		settlement.released().forEach((claim) -> lookAt(claim.lane(), claim.event().sequence(), claim.event().topic()));
		settlement.dead().forEach((claim) -> lookAt(claim.lane(), 0, claim.event().topic()));
	}

	final void lookAt(long lane, long row, String topic) {
		LaneSignal signal = new LaneSignal(lane, row, topic, 0);
		if (!keepsBack(signal)) {
			this.queue.add(signal);
		}
	}

	/**
	 * The rows of one statement that claims them.
	 *
	 * @param claims the rows that the statement has claimed
	 * @param begin when their leases began, by {@link System#nanoTime()}
	 */
	record Claimed(List<QueuedEvent> rows, List<ClaimedEvent> claims, long begin) {

		/**
		 * One for each row that was claimed.
		 */
		List<Claimed> each() {
			Map<List<Long>, ClaimedEvent> byPlace = byPlace(this.claims);
			return this.rows.stream()
				.filter((row) -> byPlace.containsKey(row.place()))
				.map((row) -> new Claimed(List.of(row), List.of(byPlace.get(row.place())), this.begin))
				.toList();
		}

	}

}
