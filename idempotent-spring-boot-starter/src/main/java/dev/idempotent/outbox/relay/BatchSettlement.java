package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.EventSettlement;
import dev.idempotent.outbox.Outcome;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Collects the outcomes of a batch and reports them to the store.
 */
final class BatchSettlement {

	private final List<LeasedEvent> delivered = new ArrayList<>();

	private final List<LeasedEvent> unavailable = new ArrayList<>();

	private final List<FailedEvent> waiting = new ArrayList<>();

	private final List<FailedEvent> dead = new ArrayList<>();

	private final RelaySettings settings;

	private final DeadLetterPolicy policy;

	private boolean stored;

	BatchSettlement(RelaySettings settings, DeadLetterPolicy policy) {
		this.settings = settings;
		this.policy = policy;
	}

	void add(LeasedEvent event, Outcome outcome) {
		if (outcome instanceof Outcome.Delivered) {
			this.delivered.add(event);
		}
		else if (outcome instanceof Outcome.Unavailable) {
			this.unavailable.add(event);
		}
		else if (outcome instanceof Outcome.Reject reject) {
			addDead(event, reject.reason());
		}
		else if (outcome instanceof Outcome.Retry retry) {
			addFailed(event, retry);
		}
	}

	/**
	 * Adds an event whose attempts are exhausted, none of which reported a result.
	 */
	void addExhausted(LeasedEvent event) {
		this.dead.add(new FailedEvent(event, "No attempt of " + this.settings.attempts()
				+ " reported a result: each time the process or the lease ended first"));
	}

	private void addFailed(LeasedEvent event, Outcome.Retry retry) {
		int used = event.event().attempts();
		if (used >= this.settings.attempts()) {
			addDead(event, retry.reason());
		}
		else {
			Duration delay = (retry.after() != null) ? retry.after()
					: delay(this.settings.backoff(), this.settings.maxBackoff(), used);
			this.waiting.add(new FailedEvent(event, retry.reason(), delay));
		}
	}

	/**
	 * The attempt that the policy grants must not exceed the limit of attempts, because
	 * an event above it is claimed without its payload.
	 */
	private void addDead(LeasedEvent event, String reason) {
		Optional<Duration> granted = (event.undeliverable() == null)
				? this.policy.beforeDeadLetter(event.event(), reason) : Optional.empty();
		if (granted.isPresent()) {
			boolean counted = event.event().attempts() < this.settings.attempts();
			this.waiting.add(new FailedEvent(event, reason, granted.get(), counted));
		}
		else {
			this.dead.add(new FailedEvent(event, reason));
		}
	}

	/**
	 * Returns a random delay, so that events that fail together are not retried together.
	 * Its upper limit is the first delay, doubled for each further failure.
	 * @param failures at least 1
	 */
	static Duration delay(Duration first, Duration longest, int failures) {
		long half = Math.max(1, first.toMillis() / 2);
		ExponentialBackOff backoff = new ExponentialBackOff(half, 2);
		backoff.setJitter(half);
		backoff.setMaxInterval(longest.toMillis());
		BackOffExecution execution = backoff.start();
		for (int i = 1; i < Math.min(failures, Long.SIZE); i++) {
			execution.nextBackOff();
		}
		return Duration.ofMillis(execution.nextBackOff());
	}

	/**
	 * Returns whether the store has the outcomes.
	 */
	boolean isStored() {
		return this.stored;
	}

	/**
	 * The delivered events.
	 */
	List<LeasedEvent> delivered() {
		return this.delivered;
	}

	/**
	 * The events without a next attempt.
	 */
	Stream<LeasedEvent> dead() {
		return this.dead.stream().map(FailedEvent::leased);
	}

	/**
	 * Reports the outcomes to the store.
	 */
	BatchResult settle(EventSettlement store) {
		int held = this.delivered.isEmpty() ? 0 : store.delivered(this.delivered);
		held += this.waiting.isEmpty() ? 0 : store.postpone(this.waiting);
		held += this.dead.isEmpty() ? 0 : store.deadLetter(this.dead);
		held += this.unavailable.isEmpty() ? 0 : store.release(this.unavailable);
		this.stored = true;
		int size = this.delivered.size() + this.waiting.size() + this.dead.size() + this.unavailable.size();
		return new BatchResult(this.delivered.size(), this.waiting.size(), this.dead.size(), this.unavailable.size(),
				size - held);
	}

}
