package dev.idempotent.outbox.courier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers the events of a store from {@link #start()} to {@link #stop()}. Any number of
 * instances may do so at once.
 */
public final class OutboxCourier {

	private static final Logger logger = LoggerFactory.getLogger(OutboxCourier.class);

	private final CourierSettings settings;

	private final OutboxObserver observer;

	private final PublisherCircuits circuits;

	private final HandOffQueue queue;

	private final Deliveries deliveries;

	private final Backlog backlog;

	private final WakeUp wakeUp = new WakeUp();

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean running;

	private volatile boolean stopped;

	/**
	 * Creates a courier that does not run yet.
	 * @param store has the events
	 * @param topics where they go
	 * @param settings how to work
	 * @param observer is told what happens
	 */
	public OutboxCourier(OutboxStore store, OutboxTopics topics, CourierSettings settings, OutboxObserver observer) {
		this.settings = settings;
		this.observer = observer;
		this.circuits = new PublisherCircuits(topics);
		this.deliveries = new Deliveries(store, topics, this.circuits, settings, observer);
		this.backlog = new Backlog(store, this.deliveries, this.circuits, settings);
		this.queue = new HandOffQueue(settings, this.circuits, this::wake);
	}

	/**
	 * The short way from commits of this process to this courier.
	 * @return takes nothing while the courier does not run
	 */
	public HandOffs handOffs() {
		return this.queue;
	}

	/**
	 * How many events wait in memory after their commit.
	 * @return at most the queue's capacity
	 */
	public int queued() {
		return this.queue.size();
	}

	/**
	 * The publishers that were unavailable when they were last asked.
	 * @return their prefixes
	 */
	public Set<String> unavailablePublishers() {
		return this.circuits.unavailable();
	}

	/**
	 * Whether the courier delivers.
	 * @return {@code true} between start and stop
	 */
	public synchronized boolean isRunning() {
		return this.running;
	}

	/**
	 * Has the courier look for due events now, from the first row on.
	 */
	public void wake() {
		wake(1);
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
		this.queue.open();
		start("outbox-backlog", new BacklogWorker(this.backlog, this.wakeUp, this.settings, () -> this.running));
		for (int i = 1; i <= this.settings.workers(); i++) {
			start("outbox-courier-" + i, new HandOffWorker(this.queue, this.deliveries, this.observer));
		}
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
		this.queue.close();
		this.running = false;
		this.wakeUp.call();
		long deadline = System.nanoTime() + this.settings.drain().toNanos();
		this.threads.forEach((thread) -> join(thread, deadline));
		this.threads.clear();
		this.deliveries.release(this.queue.leftovers());
	}

	private void wake(long row) {
		if (!this.running && !this.stopped) {
			// The first event of an application that seemed to have no use for it.
			start();
		}
		this.backlog.lookFrom(row);
		this.wakeUp.call();
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
