package dev.idempotent.outbox.relay;

import java.time.Duration;

/**
 * Looks for events that are due: at once while there are some, then ever more seldom.
 */
final class BacklogWorker implements RepeatingTask.Step {

	private final Backlog backlog;

	private final WakeUp wakeUp;

	private final RelaySettings settings;

	private final StoreFailureLog access = new StoreFailureLog();

	private Duration wait;

	BacklogWorker(Backlog backlog, WakeUp wakeUp, RelaySettings settings) {
		this.backlog = backlog;
		this.wakeUp = wakeUp;
		this.settings = settings;
		this.wait = settings.poll();
	}

	@Override
	public void run() throws InterruptedException {
		if (this.access.attempt(this.backlog::deliver) || this.wakeUp.await(this.wait)) {
			this.wait = this.settings.poll();
		}
		else {
			Duration doubled = this.wait.multipliedBy(2);
			this.wait = (doubled.compareTo(this.settings.idlePoll()) < 0) ? doubled : this.settings.idlePoll();
		}
	}

}
