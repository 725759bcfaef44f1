package dev.idempotent.outbox.courier;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.HeldEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.courier.HandOffQueue.Queued;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers what was handed over, until the queue is finished.
 */
final class HandOffWorker implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(HandOffWorker.class);

	private static final long PATIENCE_MILLIS = 100;

	private final HandOffQueue queue;

	private final Deliveries deliveries;

	private final OutboxObserver observer;

	HandOffWorker(HandOffQueue queue, Deliveries deliveries, OutboxObserver observer) {
		this.queue = queue;
		this.deliveries = deliveries;
		this.observer = observer;
	}

	@Override
	public void run() {
		try {
			while (!this.queue.isFinished()) {
				deliver(this.queue.take(PATIENCE_MILLIS));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * What waited too long is left to whoever claims it.
	 */
	private void deliver(List<Queued> taken) {
		Map<UUID, Long> committed = new HashMap<>();
		taken.stream()
			.filter((queued) -> !queued.isLate())
			.forEach((queued) -> committed.put(queued.event().event().id(), queued.committed()));
		List<HeldEvent> due = taken.stream().filter((queued) -> !queued.isLate()).map(Queued::event).toList();
		try {
			for (HeldEvent event : this.deliveries.deliver(due)) {
				Long since = committed.get(event.event().id());
				if (since != null) {
					this.observer.delivered(event.event().publisher(), Duration.ofNanos(System.nanoTime() - since));
				}
			}
		}
		// An error that ended this thread would end the short way for good.
		catch (RuntimeException | Error ex) {
			logger.error("Events that were handed over are left until their leases have ended", ex);
		}
	}

}
