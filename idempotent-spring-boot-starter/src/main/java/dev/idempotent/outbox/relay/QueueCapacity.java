package dev.idempotent.outbox.relay;

import java.util.Collection;

import dev.idempotent.outbox.SerializedEvent;

/**
 * Limits the events of one publisher that wait in memory, in number and in payload. The
 * fixed overhead of an event is ignored; the number of events limits it.
 */
final class QueueCapacity {

	private final int maxEvents;

	private final long maxBytes;

	private int events;

	private long bytes;

	QueueCapacity(RelaySettings settings) {
		this.maxEvents = settings.queueCapacity();
		this.maxBytes = settings.queueMemory().toBytes();
	}

	/**
	 * Reserves space.
	 * @return whether there was enough
	 */
	synchronized boolean reserve(Collection<SerializedEvent> added) {
		if (this.events + added.size() > this.maxEvents || this.bytes + bytes(added) > this.maxBytes) {
			return false;
		}
		take(added);
		return true;
	}

	/**
	 * Takes space for events that are in memory already, even if there is not enough.
	 */
	synchronized void take(Collection<SerializedEvent> added) {
		this.events += added.size();
		this.bytes += bytes(added);
	}

	/**
	 * Frees space.
	 */
	synchronized void free(Collection<SerializedEvent> removed) {
		this.events -= removed.size();
		this.bytes -= bytes(removed);
	}

	synchronized boolean isEmpty() {
		return this.events == 0;
	}

	/**
	 * Returns whether no further events should be read into memory.
	 */
	synchronized boolean isFull() {
		return this.events >= this.maxEvents || this.bytes >= this.maxBytes;
	}

	private static long bytes(Collection<SerializedEvent> events) {
		return events.stream().mapToLong((event) -> event.payload().length).sum();
	}

}
