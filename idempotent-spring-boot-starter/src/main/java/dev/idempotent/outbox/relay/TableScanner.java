package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.EventTable.Chunk;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.jdbc.EventTable.UnservedRow;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.outbox.jdbc.OutboxOperations.UnservedTopic;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes over the table of events in the order of lanes, again and again, and wakes the
 * workers with the lanes that no commit woke here: lanes with events of dead instances
 * and of other programs, and with events whose backoff has ended. Takes 5 % of the time
 * of a thread; up to 75 % if a pass would take too long otherwise.
 */
final class TableScanner {

	private static final int CHUNK = 5_000;

	private static final int MOVED = 1_000;

	private static final double LEAST = 0.05;

	private static final double MOST = 0.75;

	/**
	 * In how many intervals a pass should end.
	 */
	private static final int TARGET = 5;

	/**
	 * One of so many passes reads the rows of paused and unavailable topics, too: another
	 * topic can have the same range of lanes.
	 */
	private static final int THOROUGH = 60;

	private static final int MOST_UNSERVED = 50;

	/**
	 * How long events of a topic without a publisher or handler here are due before they
	 * are reported.
	 */
	private static final Duration UNSERVED = Duration.ofMinutes(5);

	private static final Logger logger = LoggerFactory.getLogger(TableScanner.class);

	private final EventTable table;

	private final Map<String, LaneWorkers> workers;

	private final PausedTopics paused;

	private final Duration interval;

	private volatile @Nullable Pass lastPass;

	private Pass pass = new Pass(false, false);

	private Set<String> warned = Set.of();

	private long passes;

	private double lastBusy = Double.MAX_VALUE;

	private long nextMove = System.nanoTime();

	private boolean requested;

	private boolean closed;

	/**
	 * Creates a scan.
	 * @param workers the workers by the prefix or the topic that they deliver to
	 * @param interval how long to wait between two passes
	 */
	TableScanner(EventTable table, Map<String, LaneWorkers> workers, PausedTopics paused, Duration interval) {
		this.table = table;
		this.workers = workers;
		this.paused = paused;
		this.interval = interval;
	}

	/**
	 * Begins a pass at once.
	 */
	synchronized void request() {
		this.requested = true;
		notifyAll();
	}

	/**
	 * Ends all waiting.
	 */
	synchronized void close() {
		this.closed = true;
		notifyAll();
	}

	/**
	 * What the last pass found.
	 * @return empty before the end of the first one
	 */
	Optional<OutboxBacklog> lastPass() {
		Pass last = this.lastPass;
		return (last != null) ? Optional.of(last.describe()) : Optional.empty();
	}

	/**
	 * Reads the next part of the table, and waits.
	 */
	void next() throws InterruptedException {
		this.paused.refresh(this.interval.dividedBy(2));
		moveDelayed();
		startIfRequested();
		long begin = System.nanoTime();
		Chunk chunk = this.table.scan(this.pass.position, CHUNK,
				(topic) -> LaneWorkers.of(topic, this.workers) != null);
		long took = System.nanoTime() - begin;
		this.pass.add(chunk, took);
		int woken = wake(chunk);
		if (chunk.end() || this.pass.position == Long.MAX_VALUE) {
			endPass();
		}
		else if (woken < CHUNK / 50) {
			pause((long) (took * (1 / share() - 1)), !this.pass.requested);
		}
	}

	/**
	 * A request during a pass that was itself requested is served after it, so that no
	 * row waits for ever.
	 */
	private synchronized void startIfRequested() {
		if (this.requested && !this.pass.requested) {
			this.requested = false;
			this.pass = new Pass(true, this.pass.thorough);
		}
	}

	private void moveDelayed() {
		if (System.nanoTime() - this.nextMove >= 0) {
			// First, so that the rest of the pass goes on although a move fails.
			this.nextMove = System.nanoTime() + this.interval.toNanos();
			List<Row> moved = this.table.moveDelayed(MOVED);
			moved.forEach((row) -> {
				LaneWorkers workers = LaneWorkers.of(row.topic(), this.workers);
				if (workers != null) {
					boolean unused = workers.wake(LaneSignal.of(row, 0));
				}
			});
			this.nextMove -= (moved.size() < MOVED) ? 0 : this.interval.toNanos();
		}
	}

	/**
	 * Wakes the workers with the lanes that are due, and passes over the topics whose
	 * rows cannot be sent. While a publisher does not take its lanes, they are left to
	 * the next pass.
	 * @return how many lanes were woken
	 */
	private int wake(Chunk chunk) throws InterruptedException {
		int woken = 0;
		Set<LaneWorkers> full = new HashSet<>();
		for (Row row : chunk.due()) {
			LaneWorkers workers = Objects.requireNonNull(LaneWorkers.of(row.topic(), this.workers));
			LaneSignal signal = LaneSignal.of(row, 0);
			if (workers.keepsBack(signal)) {
				this.pass.passOver(row);
			}
			else if (!full.contains(workers)) {
				if (workers.wake(signal) || (workers.awaitRoom() && workers.wake(signal))) {
					woken++;
				}
				else {
					full.add(workers);
				}
			}
		}
		chunk.unserved().forEach(this.pass::leave);
		Row last = chunk.last();
		if (last != null && isPassedOver(last.topic())) {
			this.pass.passOver(last);
		}
		return woken;
	}

	private boolean isPassedOver(String topic) {
		LaneWorkers workers = LaneWorkers.of(topic, this.workers);
		return workers == null || this.paused.contains(topic) || !workers.circuits().isClosed(topic);
	}

	/**
	 * The share of time that lets a pass end in time.
	 */
	private double share() {
		double target = (double) TARGET * this.interval.toNanos();
		return Math.max(LEAST, Math.min(MOST, Math.max(this.lastBusy, this.pass.busy) / target));
	}

	private void endPass() throws InterruptedException {
		this.lastBusy = this.pass.busy;
		this.pass.ended = System.nanoTime();
		this.lastPass = this.pass;
		warnOfUnserved(this.pass);
		boolean thorough = ++this.passes % THOROUGH == 0;
		this.pass = new Pass(false, thorough);
		pause((long) (this.interval.toNanos() * ThreadLocalRandom.current().nextDouble(0.75, 1.25)), true);
	}

	/**
	 * Another instance may serve these topics, such as one of another version during a
	 * deployment, and claims their events in time.
	 */
	private void warnOfUnserved(Pass ended) {
		Set<String> late = new TreeSet<>();
		ended.unserved.forEach((topic, found) -> {
			if (found.dueFor().compareTo(UNSERVED) > 0) {
				late.add(topic);
			}
		});
		if (late.stream().anyMatch((topic) -> !this.warned.contains(topic))) {
			logger
				.warn("Events for {} have been due for more than {} minutes. This instance has no publisher or handler "
						+ "for them, and no other one claims them: if none has, deploy a version that has, or skip them by the "
						+ "actuator endpoint 'outbox'", late, UNSERVED.toMinutes());
		}
		this.warned = late;
	}

	/**
	 * Waits, at most until the relay stops.
	 * @param interruptible whether a request ends it, too
	 */
	private synchronized void pause(long nanos, boolean interruptible) throws InterruptedException {
		long end = System.nanoTime() + nanos;
		long left = nanos;
		while (left > 0 && !this.closed && !(this.requested && interruptible)) {
			wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
			left = end - System.nanoTime();
		}
	}

	/**
	 * A pass from the first row to the last.
	 */
	private static final class Pass {

		private final boolean requested;

		private final boolean thorough;

		private long position = Long.MIN_VALUE;

		private double busy;

		private long events;

		private long waiting;

		private long blocked;

		private final Map<String, UnservedTopic> unserved = new TreeMap<>();

		private boolean complete = true;

		private Duration oldest = Duration.ZERO;

		private long ended;

		Pass(boolean requested, boolean thorough) {
			this.requested = requested;
			this.thorough = thorough;
		}

		void add(Chunk chunk, long took) {
			this.busy += took;
			this.events += chunk.rows();
			this.complete &= !chunk.cut();
			this.waiting += chunk.waiting();
			this.blocked += chunk.blocked();
			this.oldest = (chunk.oldest().compareTo(this.oldest) > 0) ? chunk.oldest() : this.oldest;
			this.position = (chunk.last() != null) ? chunk.last().lane() : Long.MAX_VALUE;
		}

		/**
		 * Goes on behind all lanes of the topic of a row.
		 */
		void passOver(Row row) {
			long last = LaneHash.lastOfTopic(row.lane());
			if (!this.thorough && last > this.position) {
				this.position = last;
				this.complete = false;
			}
		}

		/**
		 * Leaves a row to another instance.
		 */
		void leave(UnservedRow left) {
			String topic = left.row().topic();
			UnservedTopic found = this.unserved.get(topic);
			if (found != null) {
				Duration longest = (found.dueFor().compareTo(left.dueFor()) > 0) ? found.dueFor() : left.dueFor();
				this.unserved.put(topic, new UnservedTopic(topic, found.events() + 1, longest));
			}
			else if (this.unserved.size() < MOST_UNSERVED) {
				this.unserved.put(topic, new UnservedTopic(topic, 1, left.dueFor()));
			}
			passOver(left.row());
		}

		OutboxBacklog describe() {
			return new OutboxBacklog(this.events, this.waiting, this.blocked, this.complete, this.oldest,
					Duration.ofNanos(System.nanoTime() - this.ended), List.copyOf(this.unserved.values()));
		}

	}

}
