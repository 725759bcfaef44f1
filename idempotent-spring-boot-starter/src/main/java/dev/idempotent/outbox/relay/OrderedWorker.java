package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Advances the queues of keys that have events to deliver.
 */
final class OrderedWorker implements RepeatingTask.Step {

	private static final long TIMEOUT_MILLIS = 100;

	private final KeyQueues queues;

	private final OrderedDelivery delivery;

	private final RelaySettings settings;

	private final StoreFailureLog.Worker failureLog;

	OrderedWorker(KeyQueues queues, OrderedDelivery delivery, RelaySettings settings,
			StoreFailureLog.Worker failureLog) {
		this.queues = queues;
		this.delivery = delivery;
		this.settings = settings;
		this.failureLog = failureLog;
	}

	@Override
	public void run() throws InterruptedException {
		KeyQueue first = this.queues.ready().poll(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
		if (first == null) {
			return;
		}
		List<KeyQueue> batch = new ArrayList<>(List.of(first));
		this.queues.ready().drainTo(batch, this.settings.batchSize() - 1);
		this.failureLog.attempt(() -> {
			this.delivery.advance(batch);
			return true;
		});
		if (this.failureLog.isFailing()) {
			Thread.sleep(TIMEOUT_MILLIS);
		}
	}

}
