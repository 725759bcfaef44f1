package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.relay.HandOffQueue.Queued;

/**
 * Delivers what was handed over.
 */
final class HandOffWorker implements RepeatingTask.Step {

	private static final long PATIENCE_MILLIS = 100;

	private final HandOffQueue queue;

	private final Deliveries deliveries;

	private final OutboxObserver observer;

	HandOffWorker(HandOffQueue queue, Deliveries deliveries, OutboxObserver observer) {
		this.queue = queue;
		this.deliveries = deliveries;
		this.observer = observer;
	}

	/**
	 * What waited too long is left to whoever claims it.
	 */
	@Override
	public void run() throws InterruptedException {
		List<Queued> due = this.queue.take(PATIENCE_MILLIS).stream().filter((queued) -> !queued.isLate()).toList();
		if (due.isEmpty()) {
			return;
		}
		Map<UUID, Long> committed = new HashMap<>();
		due.forEach((queued) -> committed.put(queued.event().event().id(), queued.committed()));
		for (LeasedEvent event : this.deliveries.deliver(due.stream().map(Queued::event).toList())) {
			Long since = committed.get(event.event().id());
			if (since != null) {
				this.observer.delivered(event.event().publisher(), Duration.ofNanos(System.nanoTime() - since));
			}
		}
	}

}
