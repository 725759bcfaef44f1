package dev.idempotent.outbox.relay;

import java.util.List;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Delivers the backlog: without pauses while there are due events, then with growing
 * pauses.
 */
final class BacklogWorker implements RepeatingTask.Step {

	/**
	 * An event with more unfinished attempts may crash the process. It and the events
	 * claimed with it are published in ever smaller groups.
	 */
	static final int TRUSTED_ATTEMPTS = 2;

	private final Backlog backlog;

	private final BatchDelivery delivery;

	private final PublisherCircuit circuit;

	private final PausedTopics pausedTopics;

	private final WakeUp wakeUp;

	private final RelaySettings settings;

	private final StoreFailureLog.Worker failureLog;

	private final ExponentialBackOff polling;

	private BackOffExecution pause;

	BacklogWorker(Backlog backlog, BatchDelivery delivery, PublisherCircuit circuit, PausedTopics pausedTopics,
			WakeUp wakeUp, RelaySettings settings, StoreFailureLog.Worker failureLog) {
		this.backlog = backlog;
		this.delivery = delivery;
		this.circuit = circuit;
		this.pausedTopics = pausedTopics;
		this.wakeUp = wakeUp;
		this.settings = settings;
		this.failureLog = failureLog;
		this.polling = new ExponentialBackOff(settings.pollInterval().toMillis(), 2);
		this.polling.setMaxInterval(settings.idlePollInterval().toMillis());
		this.pause = this.polling.start();
	}

	@Override
	public void run() throws InterruptedException {
		if (this.failureLog.attempt(this::deliver) || this.wakeUp.await(this.pause.nextBackOff())) {
			this.pause = this.polling.start();
		}
	}

	/**
	 * Delivers one batch of each kind, unless the publisher is unavailable.
	 * @return whether there may be more events
	 */
	private boolean deliver() {
		this.pausedTopics.refresh();
		if (!this.circuit.isClosed()) {
			return false;
		}
		List<LeasedEvent> pending = this.backlog.claimPending();
		deliver(pending);
		List<LeasedEvent> waiting = this.backlog.claimWaiting();
		deliver(waiting);
		return this.backlog.isFull(pending) || this.backlog.isFull(waiting);
	}

	private void deliver(List<LeasedEvent> claimed) {
		if (claimed.isEmpty()) {
			return;
		}
		int group = Math.min(groupSize(claimed, this.settings), claimed.size());
		List<LeasedEvent> rest = claimed.subList(group, claimed.size());
		if (!rest.isEmpty()) {
			this.delivery.release(rest);
			this.backlog.lookFrom(rest.get(0).event().sequence());
		}
		this.delivery.deliver(claimed.subList(0, group));
	}

	/**
	 * How many of the claimed events to publish at once. Waiting events are trusted:
	 * their attempts ended with a result.
	 */
	static int groupSize(List<LeasedEvent> claimed, RelaySettings settings) {
		int mostAttempts = claimed.stream()
			.filter((event) -> !event.waiting())
			.mapToInt((event) -> event.event().attempts())
			.filter((attempts) -> attempts <= settings.attempts())
			.max()
			.orElse(0);
		return Math.max(1, settings.batchSize() >> (2 * Math.max(0, mostAttempts - TRUSTED_ATTEMPTS)));
	}

}
