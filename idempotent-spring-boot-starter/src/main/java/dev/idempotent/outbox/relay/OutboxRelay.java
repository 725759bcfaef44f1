package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.outbox.jdbc.OutboxOperations.OutboxBacklog;
import dev.idempotent.outbox.relay.BatchSettlement.Rules;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of a table from {@link #start()} to {@link #stop()}. Any number of
 * instances may run concurrently.
 */
public final class OutboxRelay {

	private static final Logger logger = LoggerFactory.getLogger(OutboxRelay.class);

	private final Rules rules;

	private final Collection<OutboxPublisher> publishers;

	private final Supplier<List<EventHandler>> handlers;

	private final TopicControl control;

	private final Runnable requirements;

	private final OutboxObserver observer;

	private volatile Delivery delivery;

	private volatile boolean running;

	private volatile boolean stopped;

	/**
	 * Creates a relay that is not running.
	 * @param table the table of events
	 * @param blocking the topics whose keys are blocked by an event without a next
	 * attempt
	 * @param topics the publishers
	 * @param control the paused topics
	 * @param requirements fails unless the database lets events be delivered; nothing is
	 * delivered before
	 * @param settings the settings
	 * @param policy asked before an event becomes dead
	 * @param observer notified of deliveries
	 * @param handlers the handlers of this application, obtained at each start; events of
	 * others are left alone
	 */
	public OutboxRelay(EventTable table, Predicate<String> blocking, OutboxTopics topics, TopicControl control,
			Runnable requirements, RelaySettings settings, DeadLetterPolicy policy, OutboxObserver observer,
			Supplier<List<EventHandler>> handlers) {
		this.rules = new Rules(table, blocking, settings, policy);
		this.publishers = topics.publishers();
		this.control = control;
		this.requirements = requirements;
		this.observer = observer;
		this.handlers = handlers;
		this.delivery = newDelivery();
	}

	/**
	 * Delivers rows whose transaction has committed. Never fails or waits: rows that it
	 * cannot accept are found by a scan.
	 * @param rows the rows, in the order in which they were appended
	 */
	public void committed(List<Row> rows) {
		try {
			startUnlessStopped();
			this.delivery.wake(rows, System.nanoTime());
		}
		catch (RuntimeException | Error ex) {
			logger.warn("Committed events do not wake the relay; its scan finds them", ex);
		}
	}

	/**
	 * Makes the relay look for due events now, starting from the first row.
	 */
	public void wake() {
		startUnlessStopped();
		this.delivery.scan.request();
	}

	/**
	 * Makes the relay read the paused topics now instead of with its next scan.
	 */
	public void refreshPausedTopics() {
		this.delivery.paused.read();
	}

	/**
	 * What the relay found when it last read the whole table.
	 * @return empty before the end of the first pass
	 */
	public Optional<OutboxBacklog> lastPass() {
		return this.delivery.scan.lastPass();
	}

	/**
	 * The publishers that were unavailable at the last attempt, and the handlers that
	 * have failed for several keys in a row.
	 * @return the prefixes of publishers and the topics of handlers
	 */
	public Set<String> unavailablePublishers() {
		return this.delivery.workers.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().circuits().isClosed())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * The destinations that were unavailable at the last attempt, up to 50 of each
	 * publisher.
	 * @return topics
	 */
	public Set<String> unavailableDestinations() {
		return this.delivery.workers.values()
			.stream()
			.flatMap((workers) -> workers.circuits().failing().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * The publishers and destinations that were unavailable at the last attempt.
	 * @return by publisher
	 */
	public List<OpenCircuit> openCircuits() {
		return this.delivery.workers.values()
			.stream()
			.flatMap((workers) -> workers.circuits().open().stream())
			.toList();
	}

	/**
	 * The paused topics that this relay knows of.
	 * @return topics of its publishers and handlers
	 */
	public Set<String> pausedTopics() {
		return this.delivery.paused.topics().stream().filter(this::serves).collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Whether this instance delivers the events of a topic.
	 * @param topic a topic of a row
	 * @return whether it has a publisher or a handler for it
	 */
	public boolean serves(String topic) {
		return LaneWorkers.of(topic, this.delivery.workers) != null;
	}

	/**
	 * Whether the relay delivers events.
	 * @return {@code true} between start and stop
	 */
	public boolean isRunning() {
		return this.running;
	}

	/**
	 * Starts to deliver. Does nothing if the relay is running.
	 */
	public synchronized void start() {
		if (!this.running) {
			this.stopped = false;
			this.delivery = newDelivery();
			this.delivery.start();
			this.running = true;
		}
	}

	/**
	 * Accepts no further events and delivers those that have been accepted, up to the
	 * drain timeout. The rest is left to other instances.
	 */
	public synchronized void stop() {
		this.stopped = true;
		if (this.running) {
			this.running = false;
			this.delivery.stop();
		}
	}

	/**
	 * Handles the due events of all handlers on the calling thread, in the order of their
	 * rows, until none is due: for tests, in which the relay does not run.
	 * @return how many events were handled
	 * @throws IllegalStateException if a handler has failed, with its exception as the
	 * cause, or the relay is running
	 */
	public int runHandlers() {
		if (this.running) {
			throw new IllegalStateException("The relay calls the handlers itself: set "
					+ "idempotent.outbox.relay.enabled=false in a test that calls them");
		}
		List<BatchResult> results = new ArrayList<>();
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		Delivery delivery = new Delivery(this, new OutboxObserver() {

			@Override
			public void published(String publisher, BatchResult batch, Duration took) {
				results.add(batch);
			}

		}, failure::set);
		int handled = 0;
		for (Optional<Row> next = delivery.nextOfHandlers(); next.isPresent(); next = delivery.nextOfHandlers()) {
			Row row = next.get();
			Objects.requireNonNull(delivery.handlers.get(row.topic())).handle(row);
			handled++;
			if (results.size() != handled || results.get(handled - 1).delivered() == 0) {
				throw new IllegalStateException("An event was not handled by " + row.topic() + "; the log shows why",
						failure.get());
			}
		}
		return handled;
	}

	private Delivery newDelivery() {
		return new Delivery(this, this.observer, (failure) -> {
		});
	}

	/**
	 * Starts with the first event if the application seemed not to use the outbox.
	 */
	private void startUnlessStopped() {
		if (!this.running && !this.stopped) {
			start();
		}
	}

	/**
	 * The threads from a start to the next stop.
	 */
	private static final class Delivery {

		private static final long PAUSE_MILLIS = 100;

		/**
		 * How many rows a test may have.
		 */
		private static final int MOST_ROWS = 5000;

		private final EventTable table;

		private final Map<String, LaneWorkers> workers = new TreeMap<>();

		private final Map<String, HandlerWorkers> handlers = new TreeMap<>();

		private final RelaySettings settings;

		private final PausedTopics paused;

		private final TableScanner scan;

		private final List<Thread> threads = new ArrayList<>();

		private final OutageLog outage = new OutageLog(logger,
				"The outbox cannot be read or changed; events are delivered when it can be again",
				"The outbox can be read and changed again");

		private final Runnable requirements;

		private volatile boolean open = true;

		Delivery(OutboxRelay relay, OutboxObserver observer, Consumer<Throwable> failures) {
			this.settings = relay.rules.settings();
			this.table = relay.rules.table();
			this.requirements = relay.requirements;
			this.paused = new PausedTopics(relay.control, relay.requirements, this::lookForAll);
			this.scan = new TableScanner(this.table, this.workers, this.paused, this.settings.scanInterval());
			for (OutboxPublisher publisher : relay.publishers) {
				this.workers.put(publisher.prefix(),
						new PublisherWorkers(publisher, relay.rules, this.paused, observer, this::lookForAll));
			}
			RecoveryTurn recoveryTurn = new RecoveryTurn();
			for (EventHandler handler : relay.handlers.get()) {
				this.handlers.put(handler.topic(), new HandlerWorkers(handler, relay.rules, this.paused, recoveryTurn,
						observer, failures, this::lookForAll));
			}
			this.workers.putAll(this.handlers);
		}

		private void lookForAll() {
			this.scan.request();
		}

		void wake(List<Row> rows, long committed) {
			for (Row row : rows) {
				LaneWorkers workers = LaneWorkers.of(row.topic(), this.workers);
				if (workers != null) {
					boolean unused = workers.wake(LaneSignal.of(row, committed));
				}
			}
		}

		void start() {
			start("outbox-scan", this::isOpen, Thread::new, () -> {
				this.scan.next();
				return true;
			});
			this.workers.forEach((name, workers) -> {
				if (!this.handlers.containsKey(name)) {
					start("outbox-probe-" + name, this::isOpen, Thread::new, workers::probe);
				}
				for (int i = 1; i <= workers.threads(); i++) {
					start("outbox-relay-" + name + "-" + i, workers::isUnfinished, workers::newThread,
							workers::deliverWoken);
				}
			});
		}

		/**
		 * The first due row of the handlers.
		 */
		Optional<Row> nextOfHandlers() {
			this.table.moveDelayed(MOST_ROWS);
			return this.table.scan(Long.MIN_VALUE, MOST_ROWS)
				.due()
				.stream()
				.filter((row) -> this.handlers.containsKey(row.topic()))
				.min(Comparator.comparingLong(Row::id));
		}

		private boolean isOpen() {
			return this.open;
		}

		private void start(String name, BooleanSupplier condition, ThreadFactory factory, Step step) {
			Thread thread = factory.newThread(() -> repeat(condition, step));
			thread.setName(name);
			thread.setDaemon(true);
			this.threads.add(thread);
			thread.start();
		}

		/**
		 * Publishes nothing before the paused topics are known.
		 */
		private void repeat(BooleanSupplier condition, Step step) {
			while (condition.getAsBoolean()) {
				long start = System.nanoTime();
				try {
					if (!this.paused.isKnown()) {
						this.paused.refresh(Duration.ofMillis(PAUSE_MILLIS));
					}
					if (!this.paused.isKnown()) {
						Thread.sleep(PAUSE_MILLIS);
					}
					else if (step.run()) {
						endOutage(start);
					}
				}
				// Errors such as a full heap may be temporary.
				catch (Throwable ex) {
					recover(ex, start);
				}
			}
		}

		/**
		 * A read-only database still answers queries, so only the statements that end an
		 * event show the end of an outage.
		 */
		private void endOutage(long start) {
			if (this.outage.isOpen()) {
				try {
					this.requirements.run();
					this.outage.succeeded(start);
				}
				catch (RuntimeException ex) {
					logger.debug("The outbox still cannot be changed", ex);
				}
			}
		}

		private void recover(Throwable failure, long start) {
			try {
				if (failure instanceof RuntimeException) {
					this.outage.failed(start, failure);
				}
				else if (!(failure instanceof InterruptedException)) {
					logger.error("An outbox worker failed; its events are delivered once their leases end", failure);
				}
				Thread.sleep(PAUSE_MILLIS);
			}
			catch (Throwable ex) {
				// Logging failed because there was no memory, or a publisher has
				// interrupted the thread.
			}
		}

		void stop() {
			this.open = false;
			this.scan.close();
			this.workers.values().forEach(this.paused.isKnown() ? LaneWorkers::drain : LaneWorkers::abandon);
			long deadline = System.nanoTime() + this.settings.drainTimeout().toNanos();
			this.threads.forEach((thread) -> join(thread, deadline));
			this.workers.values().forEach(LaneWorkers::abandon);
		}

		/**
		 * Does not interrupt, because an embedded H2 would close its file.
		 */
		private static void join(Thread thread, long deadline) {
			try {
				thread.join(Math.max(1, Duration.ofNanos(deadline - System.nanoTime()).toMillis()));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			if (thread.isAlive()) {
				logger.warn("{} is still running after the drain timeout; its events are delivered once their leases "
						+ "end", thread.getName());
			}
		}

	}

	/**
	 * What a thread repeats.
	 */
	private interface Step {

		/**
		 * Runs it once.
		 * @return whether it has used the table
		 */
		boolean run() throws InterruptedException;

	}

}
