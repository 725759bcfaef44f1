package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.relay.HandOffQueue.QueuedEvent;

/**
 * Delivers events that were handed over at commit, once their rows have been seen.
 */
final class HandOffWorker implements RepeatingTask.Step {

	private static final long TIMEOUT_MILLIS = 100;

	private final HandOffQueue queue;

	private final OutboxStore store;

	private final BatchDelivery delivery;

	private final OutboxObserver observer;

	private final StoreFailureLog.Worker failureLog;

	HandOffWorker(HandOffQueue queue, OutboxStore store, BatchDelivery delivery, OutboxObserver observer,
			StoreFailureLog.Worker failureLog) {
		this.queue = queue;
		this.store = store;
		this.delivery = delivery;
		this.observer = observer;
		this.failureLog = failureLog;
	}

	@Override
	public void run() throws InterruptedException {
		List<QueuedEvent> taken = this.queue.take(TIMEOUT_MILLIS);
		if (!taken.isEmpty()) {
			this.failureLog.attempt(() -> {
				deliver(taken);
				return true;
			});
		}
	}

	/**
	 * Drops events without a committed row, and those that waited too long: they can be
	 * claimed once their lease ends.
	 */
	private void deliver(List<QueuedEvent> taken) {
		Map<UUID, QueuedEvent> queued = taken.stream()
			.collect(Collectors.toMap((each) -> each.event().event().id(), (each) -> each, (one, other) -> one));
		List<LeasedEvent> due = this.store.committed(taken.stream().map(QueuedEvent::event).toList())
			.stream()
			.filter((event) -> !Objects.requireNonNull(queued.get(event.event().id())).isLate())
			.toList();
		for (LeasedEvent event : this.delivery.deliver(due).delivered()) {
			QueuedEvent delivered = Objects.requireNonNull(queued.get(event.event().id()));
			this.observer.delivered(event.event().publisher(),
					Duration.ofNanos(System.nanoTime() - delivered.committed()));
		}
	}

}
