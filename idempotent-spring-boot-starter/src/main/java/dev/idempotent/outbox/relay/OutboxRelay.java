package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of a store from {@link #start()} to {@link #stop()}. Any number of
 * instances may do so at once.
 */
public final class OutboxRelay {

	private static final Logger logger = LoggerFactory.getLogger(OutboxRelay.class);

	private final RelaySettings settings;

	private final OutboxStore store;

	private final Map<String, PublisherRelay> relays = new TreeMap<>();

	private final HandOffRegistry desk;

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean running;

	private volatile boolean stopped;

	/**
	 * Creates a relay that does not run yet.
	 * @param store has the events
	 * @param topics where they go
	 * @param settings how to work
	 * @param observer is told what happens
	 */
	public OutboxRelay(OutboxStore store, OutboxTopics topics, RelaySettings settings, OutboxObserver observer) {
		this.settings = settings;
		this.store = store;
		DelayedEvents delayed = new DelayedEvents(store, settings.fullScan());
		for (OutboxPublisher publisher : topics.publishers()) {
			this.relays.put(publisher.prefix(), new PublisherRelay(publisher, store, settings, observer, delayed));
		}
		this.desk = new HandOffRegistry(settings, this.relays, this::startUnlessStopped);
	}

	/**
	 * The short way from commits of this process to this relay.
	 * @return takes nothing while the relay does not run
	 */
	public HandOffs handOffs() {
		return this.desk;
	}

	/**
	 * How many events wait in memory after their commit.
	 * @return at most the queue's capacity for each publisher
	 */
	public int queued() {
		return this.relays.values().stream().mapToInt((relay) -> relay.queue().size()).sum();
	}

	/**
	 * The publishers that were unavailable when they were last asked.
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
	 * The destinations that were unavailable when they were last asked, up to 50 of each
	 * publisher.
	 * @return topics
	 */
	public Set<String> unavailableDestinations() {
		return this.relays.values()
			.stream()
			.flatMap((relay) -> relay.circuit().unavailable().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Whether the relay delivers.
	 * @return {@code true} between start and stop
	 */
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Has the relay look for due events now, from the first row on.
	 */
	public void wake() {
		startUnlessStopped();
		this.relays.values().forEach(PublisherRelay::lookAnew);
	}

	/**
	 * Begins to deliver. Can be repeated.
	 */
	public synchronized void start() {
		if (this.running) {
			return;
		}
		this.running = true;
		this.stopped = false;
		this.desk.open();
		this.relays.values().forEach((relay) -> relay.start(() -> this.running, this.desk::isOpen, this::start));
	}

	/**
	 * Takes nothing more, and delivers what it has. What is not done in time is left to
	 * others: their leases end by themselves. Can be repeated.
	 */
	public synchronized void stop() {
		this.stopped = true;
		if (!this.running) {
			return;
		}
		this.desk.close();
		this.running = false;
		this.relays.values().forEach(PublisherRelay::wake);
		long deadline = System.nanoTime() + this.settings.drain().toNanos();
		this.threads.forEach((thread) -> join(thread, deadline));
		this.threads.clear();
		List<LeasedEvent> left = this.relays.values()
			.stream()
			.flatMap((relay) -> relay.queue().leftovers().stream())
			.toList();
		if (!left.isEmpty()) {
			this.store.release(left);
		}
	}

	/**
	 * The first event of an application that seemed to have no use for it.
	 */
	private void startUnlessStopped() {
		if (!this.running && !this.stopped) {
			start();
		}
	}

	private void start(String name, Runnable work) {
		Thread thread = new Thread(work, name);
		thread.setDaemon(true);
		thread.start();
		this.threads.add(thread);
	}

	/**
	 * No interrupt: an embedded H2 would take it for the end of its file.
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
			logger.warn("{} has not ended yet; what it holds is delivered when the leases have ended",
					thread.getName());
		}
	}

}
