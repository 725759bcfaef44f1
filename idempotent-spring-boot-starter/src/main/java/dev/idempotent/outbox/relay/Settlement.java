package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.Outcome;

/**
 * Sorts the events of a batch by what became of them, and tells the store.
 */
final class Settlement {

	private final List<LeasedEvent> delivered = new ArrayList<>();

	private final List<LeasedEvent> unavailable = new ArrayList<>();

	private final List<FailedEvent> retried = new ArrayList<>();

	private final List<FailedEvent> dead = new ArrayList<>();

	private final BackOff backoff;

	private final int attempts;

	/**
	 * Creates a settlement.
	 * @param backoff between attempts
	 * @param attempts how many attempts an event has
	 */
	Settlement(BackOff backoff, int attempts) {
		this.backoff = backoff;
		this.attempts = attempts;
	}

	void add(LeasedEvent event, Outcome outcome) {
		if (outcome instanceof Outcome.Delivered) {
			this.delivered.add(event);
		}
		else if (outcome instanceof Outcome.Unavailable) {
			this.unavailable.add(event);
		}
		else if (outcome instanceof Outcome.Reject reject) {
			this.dead.add(new FailedEvent(event, reject.reason()));
		}
		else if (outcome instanceof Outcome.Retry retry) {
			addFailed(event, retry);
		}
	}

	/**
	 * Gives up an event whose attempts are used up, none of which has told its end.
	 */
	void giveUp(LeasedEvent event) {
		this.dead.add(new FailedEvent(event,
				"None of " + this.attempts + " attempts told its end: each time the process ended, or the lease did"));
	}

	private void addFailed(LeasedEvent event, Outcome.Retry retry) {
		int used = event.event().attempts();
		if (used >= this.attempts) {
			this.dead.add(new FailedEvent(event, retry.reason()));
		}
		else {
			Duration delay = (retry.after() != null) ? retry.after() : this.backoff.after(used);
			this.retried.add(new FailedEvent(event, retry.reason(), delay));
		}
	}

	/**
	 * Carries out what has been added.
	 */
	BatchResult settle(OutboxStore store) {
		int held = this.delivered.isEmpty() ? 0 : store.delivered(this.delivered);
		held += this.retried.isEmpty() ? 0 : store.moveToWaiting(this.retried);
		held += this.dead.isEmpty() ? 0 : store.deadLetter(this.dead);
		held += this.unavailable.isEmpty() ? 0 : store.release(this.unavailable);
		int size = this.delivered.size() + this.retried.size() + this.dead.size() + this.unavailable.size();
		return new BatchResult(this.delivered.size(), this.retried.size(), this.dead.size(), this.unavailable.size(),
				size - held);
	}

}
