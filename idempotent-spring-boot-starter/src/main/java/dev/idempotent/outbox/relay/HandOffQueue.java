package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;

/**
 * The events of one publisher that were handed over at commit and wait for a worker.
 * Limited in number and in payload.
 */
final class HandOffQueue {

	private final RelaySettings settings;

	private final QueueCapacity capacity;

	private final BlockingQueue<QueuedEvent> queue = new LinkedBlockingQueue<>();

	HandOffQueue(RelaySettings settings, QueueCapacity capacity) {
		this.settings = settings;
		this.capacity = capacity;
	}

	/**
	 * Reserves space for events that are to be added.
	 * @return whether there was enough space
	 */
	boolean reserve(List<SerializedEvent> events) {
		return this.capacity.reserve(events);
	}

	/**
	 * Frees reserved space.
	 */
	void cancel(List<SerializedEvent> events) {
		this.capacity.free(events);
	}

	/**
	 * Adds an event for which space is reserved.
	 */
	void add(QueuedEvent queued) {
		this.queue.add(queued);
	}

	/**
	 * Returns whether nothing is queued or reserved, here or in the queues of keys.
	 */
	boolean isEmpty() {
		return this.capacity.isEmpty();
	}

	int size() {
		return this.queue.size();
	}

	/**
	 * Takes a batch, and waits for its first event.
	 * @return the batch, empty after the timeout
	 */
	List<QueuedEvent> take(long timeoutMillis) throws InterruptedException {
		List<QueuedEvent> taken = new ArrayList<>();
		QueuedEvent next = this.queue.poll(timeoutMillis, TimeUnit.MILLISECONDS);
		long bytes = 0;
		while (next != null) {
			taken.add(next);
			cancel(List.of(next.event().event()));
			bytes += next.event().event().payload().length;
			boolean full = taken.size() >= this.settings.batchSize() || bytes >= this.settings.batchMemory().toBytes();
			next = full ? null : this.queue.poll();
		}
		return taken;
	}

	/**
	 * Takes all remaining events.
	 */
	List<LeasedEvent> drain() {
		List<LeasedEvent> remaining = new ArrayList<>();
		for (QueuedEvent next = this.queue.poll(); next != null; next = this.queue.poll()) {
			cancel(List.of(next.event().event()));
			remaining.add(next.event());
		}
		return remaining;
	}

	/**
	 * An event in the queue.
	 *
	 * @param event the event
	 * @param committed when it was handed over, as {@link System#nanoTime()}
	 * @param deadline until when its lease is certainly valid, as
	 * {@link System#nanoTime()}
	 */
	record QueuedEvent(LeasedEvent event, long committed, long deadline) {

		boolean isLate() {
			return System.nanoTime() - this.deadline >= 0;
		}

	}

}
