package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The queues of the keys of one publisher, and those that a worker has to process.
 */
final class KeyQueues {

	private static final int MAX_ELSEWHERE = 10_000;

	private final String owner;

	private final Duration leaseTime;

	private final QueueCapacity capacity;

	private final Map<Long, KeyQueue> queues = new ConcurrentHashMap<>();

	private final BlockingQueue<KeyQueue> ready = new LinkedBlockingQueue<>();

	/**
	 * Until when keys are delivered by others, as {@link System#nanoTime()}.
	 */
	private final Map<Long, Long> elsewhere = new ConcurrentHashMap<>();

	KeyQueues(String owner, Duration leaseTime, QueueCapacity capacity) {
		this.owner = owner;
		this.leaseTime = leaseTime;
		this.capacity = capacity;
	}

	/**
	 * Reserves a place for an event that is about to be inserted.
	 * @return the queue whose lease it is inserted with, or {@code null} to insert it
	 * without one
	 */
	@Nullable KeyQueue reserve(long keyHash, SerializedEvent event) {
		if (isElsewhere(keyHash)) {
			return null;
		}
		AtomicReference<@Nullable KeyQueue> reserved = new AtomicReference<>();
		this.queues.compute(keyHash, (key, known) -> {
			KeyQueue queue = (known != null) ? known : create(keyHash, event.topic());
			reserved.set(queue.reserve(event) ? queue : null);
			return queue.isUnused() ? null : queue;
		});
		return reserved.get();
	}

	/**
	 * Makes a worker check the first row of a key.
	 */
	void signal(long keyHash, String topic) {
		update(keyHash, topic, KeyQueue::signal);
	}

	/**
	 * Makes a worker release events of a queue that has been replaced.
	 */
	void release(long keyHash, String topic, List<LeasedEvent> events) {
		update(keyHash, topic, (queue) -> {
			queue.releaseLater(events);
			queue.signal();
		});
	}

	/**
	 * Replaces a queue: releases its events, so that they are claimed again, or by
	 * others.
	 */
	void replace(KeyQueue queue) {
		release(queue.keyHash, queue.topic, retire(queue));
	}

	/**
	 * Ends the use of a queue.
	 * @return its events that are to be released
	 */
	List<LeasedEvent> retire(KeyQueue queue) {
		this.queues.remove(queue.keyHash, queue);
		return queue.replace();
	}

	/**
	 * Takes the queue of a key as a worker does.
	 * @return empty if a worker has it
	 */
	Optional<KeyQueue> takeForProbe(long keyHash, String topic) {
		AtomicReference<@Nullable KeyQueue> taken = new AtomicReference<>();
		this.queues.compute(keyHash, (key, known) -> {
			KeyQueue queue = (known != null) ? known : create(keyHash, topic);
			queue.signal();
			taken.set(queue.schedule() ? queue : null);
			return queue;
		});
		return Optional.ofNullable(taken.get());
	}

	/**
	 * Ends the processing of a queue that was taken.
	 */
	void putBack(KeyQueue queue) {
		queue.unschedule();
		update(queue);
	}

	/**
	 * Schedules a queue after a change, or forgets it.
	 */
	void update(KeyQueue queue) {
		this.queues.computeIfPresent(queue.keyHash, (key, known) -> {
			if (known == queue) {
				schedule(queue);
			}
			return known.isUnused() ? null : known;
		});
	}

	/**
	 * Makes events of a key be inserted without a lease for some time, because they could
	 * not be delivered at once.
	 */
	void markElsewhere(long keyHash, Duration time) {
		if (this.elsewhere.size() >= MAX_ELSEWHERE) {
			this.elsewhere.values().removeIf((end) -> System.nanoTime() - end >= 0);
		}
		if (this.elsewhere.size() < MAX_ELSEWHERE) {
			this.elsewhere.put(keyHash, System.nanoTime() + time.toNanos());
		}
	}

	private boolean isElsewhere(long keyHash) {
		Long end = this.elsewhere.isEmpty() ? null : this.elsewhere.get(keyHash);
		if (end != null && System.nanoTime() - end >= 0) {
			this.elsewhere.remove(keyHash, end);
			return false;
		}
		return end != null;
	}

	/**
	 * The queues that a worker has to process.
	 */
	BlockingQueue<KeyQueue> ready() {
		return this.ready;
	}

	/**
	 * Returns whether there are as many keys in memory as events are allowed.
	 */
	boolean isFull(int maxKeys) {
		return this.capacity.isFull() || this.queues.size() >= maxKeys;
	}

	/**
	 * Removes all queues.
	 * @return their events that are to be released
	 */
	List<LeasedEvent> drain() {
		List<LeasedEvent> released = this.queues.values()
			.stream()
			.flatMap((queue) -> queue.replace().stream())
			.toList();
		this.queues.clear();
		this.ready.clear();
		return released;
	}

	private void update(long keyHash, String topic, Consumer<KeyQueue> change) {
		this.queues.compute(keyHash, (key, known) -> {
			KeyQueue queue = (known != null) ? known : create(keyHash, topic);
			change.accept(queue);
			schedule(queue);
			return queue;
		});
	}

	private void schedule(KeyQueue queue) {
		if (queue.schedule()) {
			this.ready.add(queue);
		}
	}

	private KeyQueue create(long keyHash, String topic) {
		return new KeyQueue(keyHash, topic, EventLease.by(this.owner, this.leaseTime), this.capacity);
	}

}
