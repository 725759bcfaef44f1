package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.relay.HandOffQueue.QueuedEvent;

/**
 * Delivers events that were handed over at commit.
 */
final class HandOffWorker implements RepeatingTask.Step {

	private static final long TIMEOUT_MILLIS = 100;

	private final HandOffQueue queue;

	private final BatchDelivery delivery;

	private final OutboxObserver observer;

	HandOffWorker(HandOffQueue queue, BatchDelivery delivery, OutboxObserver observer) {
		this.queue = queue;
		this.delivery = delivery;
		this.observer = observer;
	}

	/**
	 * Drops events that waited too long: they can be claimed once their lease ends.
	 */
	@Override
	public void run() throws InterruptedException {
		List<QueuedEvent> due = this.queue.take(TIMEOUT_MILLIS).stream().filter((queued) -> !queued.isLate()).toList();
		if (due.isEmpty()) {
			return;
		}
		Map<UUID, Long> committed = new HashMap<>();
		due.forEach((queued) -> committed.put(queued.event().event().id(), queued.committed()));
		for (LeasedEvent event : this.delivery.deliver(due.stream().map(QueuedEvent::event).toList()).delivered()) {
			Long since = committed.get(event.event().id());
			if (since != null) {
				this.observer.delivered(event.event().publisher(), Duration.ofNanos(System.nanoTime() - since));
			}
		}
	}

}
