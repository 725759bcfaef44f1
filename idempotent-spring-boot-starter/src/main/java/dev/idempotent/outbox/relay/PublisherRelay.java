package dev.idempotent.outbox.relay;

import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;

/**
 * Delivers the events of one publisher with threads of its own, so that one that is slow
 * or away holds up no other.
 */
final class PublisherRelay {

	private final String publisher;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final PublisherCircuit circuit;

	private final HandOffQueue queue;

	private final Deliveries deliveries;

	private final Backlog backlog;

	private final WakeUp wakeUp = new WakeUp();

	PublisherRelay(OutboxPublisher publisher, OutboxStore store, RelaySettings settings, OutboxObserver observer,
			DelayedEvents delayed) {
		this.publisher = publisher.prefix();
		this.settings = settings;
		this.observer = observer;
		this.circuit = new PublisherCircuit(this.publisher, this::lookAnew);
		this.queue = new HandOffQueue(settings);
		this.deliveries = new Deliveries(store, publisher, this.circuit, settings, observer, this::lookFrom);
		this.backlog = new Backlog(this.publisher, store, this.deliveries, this.circuit, settings, delayed);
	}

	PublisherCircuit circuit() {
		return this.circuit;
	}

	HandOffQueue queue() {
		return this.queue;
	}

	Backlog backlog() {
		return this.backlog;
	}

	void wake() {
		this.wakeUp.call();
	}

	/**
	 * Looks for events from the first row on.
	 */
	void lookAnew() {
		lookFrom(1);
	}

	/**
	 * Gives each kind of work a name for its thread.
	 * @param running until when to look for events
	 * @param delivering until when to deliver what was handed over
	 */
	void start(BooleanSupplier running, BooleanSupplier delivering, BiConsumer<String, Runnable> threads) {
		threads.accept("outbox-backlog-" + this.publisher,
				new RepeatingTask(running, new BacklogWorker(this.backlog, this.wakeUp, this.settings)));
		threads.accept("outbox-probe-" + this.publisher, new RepeatingTask(running,
				new ProbeWorker(this.backlog, this.deliveries, this.circuit, this.settings)));
		for (int i = 1; i <= this.settings.workers(); i++) {
			threads.accept("outbox-relay-" + this.publisher + "-" + i,
					new RepeatingTask(() -> delivering.getAsBoolean() || !this.queue.isEmpty(),
							new HandOffWorker(this.queue, this.deliveries, this.observer)));
		}
	}

	private void lookFrom(long row) {
		this.backlog.lookFrom(row);
		this.wakeUp.call();
	}

}
