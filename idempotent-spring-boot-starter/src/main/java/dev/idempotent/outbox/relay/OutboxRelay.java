package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxBacklog;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.EventSettlement;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.EventTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of a store from {@link #start()} to {@link #stop()}. Any number of
 * instances may run concurrently.
 */
public final class OutboxRelay {

	private static final Logger logger = LoggerFactory.getLogger(OutboxRelay.class);

	private final RelaySettings settings;

	private final OutboxStore store;

	private final OrderedSettlement ordered;

	private final Map<String, PublisherRelay> relays = new TreeMap<>();

	private final PausedTopics pausedTopics;

	private final HandOffRegistry handOffs;

	private final StoreFailureLog failureLog = new StoreFailureLog();

	private final WakeUp recoveryWakeUp = new WakeUp();

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean running;

	private volatile boolean stopped;

	/**
	 * Creates a relay that is not running.
	 * @param store the store of unordered events
	 * @param ordered the store of ordered events
	 * @param blocking the topics whose keys are blocked by an event without a next
	 * attempt
	 * @param topics the publishers
	 * @param control the paused topics
	 * @param owner the name of this instance, shown to operators
	 * @param settings the settings
	 * @param policy asked before an event becomes dead
	 * @param observer notified of deliveries
	 */
	public OutboxRelay(OutboxStore store, OrderedOutboxStore ordered, Predicate<String> blocking, OutboxTopics topics,
			TopicControl control, String owner, RelaySettings settings, DeadLetterPolicy policy,
			OutboxObserver observer) {
		this.settings = settings;
		this.store = store;
		this.ordered = new OrderedSettlement(ordered, blocking);
		DelayedEvents delayed = new DelayedEvents(store, settings.fullScanInterval());
		this.pausedTopics = new PausedTopics(control,
				(paused) -> this.relays.values().forEach((relay) -> relay.circuit().pause(paused)));
		DeadLetterPolicy guarded = new GuardedDeadLetterPolicy(policy);
		for (OutboxPublisher publisher : topics.publishers()) {
			this.relays.put(publisher.prefix(),
					new PublisherRelay(publisher, store, this.ordered, owner, settings, guarded, observer, delayed,
							this.pausedTopics, this.failureLog, this.recoveryWakeUp::call, () -> this.running));
		}
		this.handOffs = new HandOffRegistry(owner, settings.lease(), this.relays, this::startUnlessStopped);
	}

	/**
	 * Stands in for the new engine until it is here.
	 */
	@SuppressWarnings("NullAway")
	public OutboxRelay(EventTable table, Predicate<String> blocking, OutboxTopics topics, TopicControl control,
			RelaySettings settings, DeadLetterPolicy policy, OutboxObserver observer) {
		this.settings = settings;
		this.store = null;
		this.ordered = null;
		this.pausedTopics = null;
		this.handOffs = null;
	}

	/**
	 * Called after each commit. Never fails.
	 * @param rows the committed rows
	 */
	public void committed(List<EventTable.Row> rows) {
	}

	/**
	 * What the last pass found.
	 * @return empty before the first one
	 */
	public Optional<OutboxBacklog> lastPass() {
		return Optional.empty();
	}

	/**
	 * Hands events of this process over to this relay at commit.
	 * @return hand-offs that accept nothing while the relay is not running
	 */
	public HandOffs handOffs() {
		return this.handOffs;
	}

	/**
	 * How many events wait in memory after their commit.
	 * @return at most the queue's capacity for each publisher
	 */
	public int queued() {
		return this.relays.values().stream().mapToInt((relay) -> relay.queue().size()).sum();
	}

	/**
	 * The publishers that were unavailable at the last attempt.
	 * @return their prefixes
	 */
	public Set<String> unavailablePublishers() {
		return this.relays.entrySet()
			.stream()
			.filter((relay) -> !relay.getValue().circuit().isClosed())
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * The destinations that were unavailable at the last attempt, up to 50 of each
	 * publisher.
	 * @return topics
	 */
	public Set<String> unavailableDestinations() {
		return this.relays.values()
			.stream()
			.flatMap((relay) -> relay.circuit().failing().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * The publishers and destinations that were unavailable at the last attempt.
	 * @return by publisher
	 */
	public List<OpenCircuit> openCircuits() {
		return this.relays.values().stream().flatMap((relay) -> relay.circuit().open().stream()).toList();
	}

	/**
	 * The paused topics that this relay knows of.
	 * @return topics of its publishers
	 */
	public Set<String> pausedTopics() {
		return this.relays.values()
			.stream()
			.flatMap((relay) -> relay.circuit().paused().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Whether the relay delivers events.
	 * @return {@code true} between start and stop
	 */
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Makes the relay query for due events now, starting from the first row.
	 */
	public void wake() {
		startUnlessStopped();
		this.relays.values().forEach(PublisherRelay::lookFromFirstRow);
		this.recoveryWakeUp.call();
	}

	/**
	 * Makes the relay read the paused topics now instead of with its next poll.
	 */
	public void refreshPausedTopics() {
		this.pausedTopics.read();
	}

	/**
	 * Starts to deliver. Does nothing if the relay is running.
	 */
	public synchronized void start() {
		if (this.running) {
			return;
		}
		this.running = true;
		this.stopped = false;
		this.pausedTopics.expire();
		this.handOffs.open();
		this.relays.values().forEach((relay) -> relay.start(() -> this.running, this.handOffs::isOpen, this::start));
		start("outbox-recovery", new RepeatingTask(() -> this.running, new RecoveryScan(this.ordered.store(),
				this.relays, this.pausedTopics, this.settings, this.recoveryWakeUp, this.failureLog.worker())));
	}

	/**
	 * Accepts no further events and delivers those handed over, up to the drain timeout.
	 * The rest is released, or picked up by other instances when its leases end.
	 */
	public synchronized void stop() {
		this.stopped = true;
		if (!this.running) {
			return;
		}
		this.handOffs.close();
		this.running = false;
		this.relays.values().forEach(PublisherRelay::wake);
		this.recoveryWakeUp.call();
		long deadline = System.nanoTime() + this.settings.drainTimeout().toNanos();
		this.threads.forEach((thread) -> join(thread, deadline));
		this.threads.clear();
		release(this.store, (relay) -> relay.queue().drain());
		release(this.ordered.store(), (relay) -> relay.keys().drain());
	}

	private void release(EventSettlement store, Function<PublisherRelay, List<LeasedEvent>> drain) {
		List<LeasedEvent> undelivered = this.relays.values().stream().map(drain).flatMap(List::stream).toList();
		if (!undelivered.isEmpty()) {
			store.release(undelivered);
		}
	}

	/**
	 * Starts with the first event if the application seemed not to use the outbox.
	 */
	private void startUnlessStopped() {
		if (!this.running && !this.stopped) {
			start();
		}
	}

	private void start(String name, Runnable work) {
		Thread thread = new Thread(() -> {
			this.pausedTopics.awaitKnown(() -> this.running);
			if (this.pausedTopics.isKnown()) {
				work.run();
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
		this.threads.add(thread);
	}

	/**
	 * Does not interrupt, because an embedded H2 would close its file.
	 */
	private static void join(Thread thread, long deadline) {
		try {
			Duration left = Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
			thread.join(Math.max(1, left.toMillis()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (thread.isAlive()) {
			logger.warn("{} is still running after the drain timeout; its events are delivered once their leases end",
					thread.getName());
		}
	}

}
