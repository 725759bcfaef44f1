package dev.idempotent.outbox.relay;

import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.SerializedEvent;

/**
 * Delivers the events of one publisher with separate threads, so that a slow or
 * unavailable publisher does not delay the others.
 */
final class PublisherRelay {

	private final String publisher;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final PausedTopics pausedTopics;

	private final StoreFailureLog failureLog;

	private final Runnable recovery;

	private final PublisherCircuit circuit;

	private final SuspectEvents suspects = new SuspectEvents();

	private final HandOffQueue queue;

	private final KeyQueues keys;

	private final OrderedDelivery orderedDelivery;

	private final OutboxStore store;

	private final BatchDelivery delivery;

	private final Backlog backlog;

	private final WakeUp backlogWakeUp = new WakeUp();

	private final WakeUp probeWakeUp = new WakeUp();

	/**
	 * Creates a relay that is not running.
	 * @param owner the name of this instance
	 * @param recovery makes the recovery scan look for ordered events that can be sent
	 * @param claiming whether to claim events that were not handed over
	 */
	PublisherRelay(OutboxPublisher publisher, OutboxStore store, OrderedSettlement ordered, String owner,
			RelaySettings settings, DeadLetterPolicy policy, OutboxObserver observer, DelayedEvents delayed,
			PausedTopics pausedTopics, StoreFailureLog failureLog, Runnable recovery, BooleanSupplier claiming) {
		this.publisher = publisher.prefix();
		this.settings = settings;
		this.observer = observer;
		this.pausedTopics = pausedTopics;
		this.failureLog = failureLog;
		this.recovery = recovery;
		this.circuit = new PublisherCircuit(this.publisher, () -> {
			lookFromFirstRow();
			recovery.run();
		});
		QueueCapacity capacity = new QueueCapacity(settings);
		this.queue = new HandOffQueue(settings, capacity);
		this.store = store;
		BatchPublisher batches = new BatchPublisher(publisher, this.circuit, this.suspects);
		this.delivery = new BatchDelivery(store, batches, this.circuit, settings, policy, observer, this::lookFrom);
		this.backlog = new Backlog(this.publisher, store, this.circuit, owner, settings, delayed);
		this.keys = new KeyQueues(owner, settings.lease(), capacity);
		BatchDelivery orderedBatches = new BatchDelivery(ordered, batches, this.circuit, settings, policy, observer,
				(row) -> {
				});
		this.orderedDelivery = new OrderedDelivery(ordered, orderedBatches, this.keys, this.circuit, settings, observer,
				claiming);
	}

	PublisherCircuit circuit() {
		return this.circuit;
	}

	HandOffQueue queue() {
		return this.queue;
	}

	KeyQueues keys() {
		return this.keys;
	}

	/**
	 * Returns whether there is no space for further keys.
	 */
	boolean isFull() {
		return this.keys.isFull(this.settings.queueCapacity());
	}

	Backlog backlog() {
		return this.backlog;
	}

	void wake() {
		this.backlogWakeUp.call();
		this.probeWakeUp.call();
	}

	/**
	 * Delivers an event that was not handed over, or probes with it if its destination is
	 * unavailable. Leaves it alone if its topic is paused.
	 */
	void lookFor(SerializedEvent event) {
		if (this.circuit.isClosed(event.topic())) {
			lookFrom(event.sequence());
		}
		else if (!this.circuit.isPaused(event.topic())) {
			this.circuit.eventAvailable(event.topic());
			this.probeWakeUp.call();
		}
	}

	/**
	 * Delivers the ordered events of a key that were not handed over, or probes with the
	 * first one if its destination is unavailable.
	 * @return whether they are being delivered
	 */
	boolean lookForKey(long keyHash, String topic) {
		if (this.circuit.isPaused(topic)) {
			return false;
		}
		if (!this.circuit.isClosed(topic)) {
			this.circuit.eventAvailable(topic, keyHash);
			this.probeWakeUp.call();
			return false;
		}
		if (isFull()) {
			// The scan waits until there is space.
			this.recovery.run();
			return false;
		}
		this.keys.signal(keyHash, topic);
		return true;
	}

	void lookFromFirstRow() {
		lookFrom(1);
	}

	/**
	 * Starts the workers.
	 * @param running whether to query for events
	 * @param delivering whether to wait for events that are handed over
	 * @param threads runs a worker on a new thread of the given name
	 */
	void start(BooleanSupplier running, BooleanSupplier delivering, BiConsumer<String, Runnable> threads) {
		threads.accept("outbox-backlog-" + this.publisher,
				new RepeatingTask(running, new BacklogWorker(this.backlog, this.delivery, this.circuit,
						this.pausedTopics, this.backlogWakeUp, this.settings, this.failureLog.worker())));
		threads.accept("outbox-probe-" + this.publisher,
				new RepeatingTask(running, new ProbeWorker(this.backlog, this.delivery, this.orderedDelivery,
						this.circuit, this.suspects, this.probeWakeUp, this.settings, this.failureLog.worker())));
		for (int i = 1; i <= this.settings.workers(); i++) {
			threads.accept("outbox-relay-" + this.publisher + "-" + i, new RepeatingTask(
					() -> delivering.getAsBoolean() || !this.queue.isEmpty(),
					new HandOffWorker(this.queue, this.store, this.delivery, this.observer, this.failureLog.worker())));
			threads.accept("outbox-ordered-" + this.publisher + "-" + i, new RepeatingTask(
					() -> delivering.getAsBoolean() || !this.queue.isEmpty(),
					new OrderedWorker(this.keys, this.orderedDelivery, this.settings, this.failureLog.worker())));
		}
	}

	private void lookFrom(long row) {
		this.backlog.lookFrom(row);
		this.backlogWakeUp.call();
	}

}
