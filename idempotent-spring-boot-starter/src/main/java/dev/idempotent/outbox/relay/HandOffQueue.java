package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;

/**
 * The events of one publisher that were handed over at their commit and wait for a
 * worker, limited in number and in size.
 */
final class HandOffQueue {

	private final RelaySettings settings;

	private final Semaphore slots;

	private final Semaphore room;

	private final BlockingQueue<Queued> queue = new LinkedBlockingQueue<>();

	HandOffQueue(RelaySettings settings) {
		this.settings = settings;
		this.slots = new Semaphore(settings.queueCapacity());
		this.room = new Semaphore(kilobytes(settings.queueMemory()));
	}

	/**
	 * Reserves room for events that are to be added.
	 * @return whether there is room
	 */
	boolean reserve(List<SerializedEvent> events) {
		if (!this.slots.tryAcquire(events.size())) {
			return false;
		}
		if (!this.room.tryAcquire(kilobytes(events))) {
			this.slots.release(events.size());
			return false;
		}
		return true;
	}

	/**
	 * Gives reserved room back.
	 */
	void cancel(List<SerializedEvent> events) {
		this.slots.release(events.size());
		this.room.release(kilobytes(events));
	}

	/**
	 * Adds an event for which room is reserved.
	 */
	void add(Queued queued) {
		this.queue.add(queued);
	}

	/**
	 * Whether nothing is queued, and no room is reserved.
	 */
	boolean isEmpty() {
		return this.slots.availablePermits() == this.settings.queueCapacity();
	}

	int size() {
		return this.queue.size();
	}

	/**
	 * Takes a batch, waiting for its first event.
	 * @return none if there were none in time
	 */
	List<Queued> take(long timeoutMillis) throws InterruptedException {
		List<Queued> taken = new ArrayList<>();
		Queued next = this.queue.poll(timeoutMillis, TimeUnit.MILLISECONDS);
		long bytes = 0;
		while (next != null) {
			taken.add(next);
			cancel(List.of(next.event().event()));
			bytes += next.event().event().payload().length;
			boolean full = taken.size() >= this.settings.batchSize() || bytes >= this.settings.batchMemory();
			next = full ? null : this.queue.poll();
		}
		return taken;
	}

	/**
	 * Takes all that nobody has taken.
	 */
	List<LeasedEvent> leftovers() {
		List<LeasedEvent> left = new ArrayList<>();
		for (Queued next = this.queue.poll(); next != null; next = this.queue.poll()) {
			cancel(List.of(next.event().event()));
			left.add(next.event());
		}
		return left;
	}

	private static int kilobytes(List<SerializedEvent> events) {
		return (int) Math.min(Integer.MAX_VALUE,
				events.stream().mapToLong((event) -> kilobytes(event.payload().length)).sum());
	}

	/**
	 * The fixed overhead of an event is not counted: the number of events limits it.
	 */
	private static int kilobytes(long bytes) {
		return (int) Math.min(Integer.MAX_VALUE, bytes / 1024);
	}

	/**
	 * An event in the queue.
	 *
	 * @param event the event
	 * @param committed when it was handed over
	 * @param deadline until when its lease surely holds
	 */
	record Queued(LeasedEvent event, long committed, long deadline) {

		boolean isLate() {
			return System.nanoTime() - this.deadline >= 0;
		}

	}

}
