package dev.idempotent.outbox.courier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

import dev.idempotent.outbox.EventLease;
import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.HeldEvent;
import dev.idempotent.outbox.StoredEvent;
import org.jspecify.annotations.Nullable;

/**
 * The events that were handed over at their commit and wait for a worker.
 */
final class HandOffQueue implements HandOffs {

	private final CourierSettings settings;

	private final PublisherCircuits circuits;

	private final LongConsumer wakeUp;

	private final Semaphore slots;

	private final BlockingQueue<Queued> queue = new LinkedBlockingQueue<>();

	private volatile boolean open;

	/**
	 * Creates a queue that takes nothing yet.
	 * @param wakeUp is told the first row of events that somebody has to look for
	 */
	HandOffQueue(CourierSettings settings, PublisherCircuits circuits, LongConsumer wakeUp) {
		this.settings = settings;
		this.circuits = circuits;
		this.wakeUp = wakeUp;
		this.slots = new Semaphore(settings.queueCapacity());
	}

	void open() {
		this.open = true;
	}

	void close() {
		this.open = false;
	}

	/**
	 * Whether nothing is queued and nothing will be.
	 */
	boolean isFinished() {
		return !this.open && this.slots.availablePermits() == this.settings.queueCapacity();
	}

	int size() {
		return this.queue.size();
	}

	@Override
	public @Nullable HandOff reserve(List<StoredEvent> events) {
		boolean available = this.open && (this.circuits.areClosed()
				|| events.stream().map(StoredEvent::publisher).allMatch(this::isAvailable));
		return (available && this.slots.tryAcquire(events.size())) ? new Slots(events.size()) : null;
	}

	private boolean isAvailable(String publisher) {
		return this.circuits.of(publisher).isClosed();
	}

	@Override
	public void wake(long lowest) {
		this.wakeUp.accept(lowest);
	}

	/**
	 * Takes events, waiting for the first.
	 * @return none if there were none in time
	 */
	List<Queued> take(long timeoutMillis) throws InterruptedException {
		Queued first = this.queue.poll(timeoutMillis, TimeUnit.MILLISECONDS);
		if (first == null) {
			return List.of();
		}
		List<Queued> taken = new ArrayList<>();
		taken.add(first);
		this.queue.drainTo(taken, this.settings.batchSize() - 1);
		this.slots.release(taken.size());
		return taken;
	}

	/**
	 * Takes all that nobody has taken.
	 */
	List<HeldEvent> leftovers() {
		List<Queued> taken = new ArrayList<>();
		this.slots.release(this.queue.drainTo(taken));
		return taken.stream().map(Queued::event).toList();
	}

	/**
	 * An event in the queue.
	 *
	 * @param event the event
	 * @param committed when it was handed over
	 * @param deadline until when its lease surely holds
	 */
	record Queued(HeldEvent event, long committed, long deadline) {

		boolean isLate() {
			return System.nanoTime() - this.deadline >= 0;
		}

	}

	private final class Slots implements HandOff {

		private final int number;

		private final EventLease lease;

		/**
		 * Taken before the database's clock is: the lease ends no earlier than this
		 * tells.
		 */
		private final long deadline;

		Slots(int number) {
			CourierSettings settings = HandOffQueue.this.settings;
			this.number = number;
			this.lease = EventLease.by(settings.owner(), settings.lease());
			this.deadline = System.nanoTime() + settings.lease().toNanos() / 2;
		}

		@Override
		public EventLease lease() {
			return this.lease;
		}

		@Override
		public void committed(List<StoredEvent> events) {
			long now = System.nanoTime();
			for (StoredEvent event : events) {
				HandOffQueue.this.queue
					.add(new Queued(new HeldEvent(event, this.lease.claimId(), false), now, this.deadline));
			}
		}

		@Override
		public void cancel() {
			HandOffQueue.this.slots.release(this.number);
		}

	}

}
