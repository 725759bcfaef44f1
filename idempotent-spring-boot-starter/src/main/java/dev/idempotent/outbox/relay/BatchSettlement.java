package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.EventTable.Failure;
import dev.idempotent.outbox.jdbc.LaneHash;
import dev.idempotent.concurrent.Backoff;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens to the rows of one attempt: decided by the outcomes of their publication,
 * then stored.
 */
final class BatchSettlement {

	/**
	 * The outcome of an event that was not sent.
	 */
	static final Outcome NOT_SENT = new Outcome.Unavailable("The event was not sent");

	private static final Logger logger = LoggerFactory.getLogger(BatchSettlement.class);

	private final Rules rules;

	private final Set<Long> stopped = new HashSet<>();

	private final List<ClaimedEvent> delivered = new ArrayList<>();

	private final List<ClaimedEvent> toDelete = new ArrayList<>();

	private final List<ClaimedEvent> released = new ArrayList<>();

	private final List<Failure> postponed = new ArrayList<>();

	private final List<Failure> uncounted = new ArrayList<>();

	private final List<Failure> blocked = new ArrayList<>();

	private final List<Failure> dead = new ArrayList<>();

	private int nextStep;

	private int changed;

	BatchSettlement(Rules rules) {
		this.rules = rules;
	}

	/**
	 * Whether a row of this lane was not delivered, so that those behind it must not be.
	 */
	boolean isStopped(long lane) {
		return this.stopped.contains(lane);
	}

	/**
	 * Sends nothing of a lane from here on.
	 */
	void stop(long lane) {
		this.stopped.add(lane);
	}

	void release(ClaimedEvent claim) {
		stop(claim.lane());
		this.released.add(claim);
	}

	/**
	 * Adds an event whose attempts are exhausted, none of which reported a result.
	 */
	void addExhausted(ClaimedEvent claim) {
		addDead(claim, "No attempt of " + this.rules.attempts()
				+ " reported a result: each time the process or the lease ended first");
	}

	/**
	 * Adds an event that has left the table with the work of its handler.
	 */
	void addRemoved(ClaimedEvent claim) {
		this.delivered.add(claim);
	}

	/**
	 * Adds an event whose handler could not be called, which is not an attempt.
	 */
	void addNotCalled(ClaimedEvent claim, String reason) {
		stop(claim.lane());
		this.uncounted.add(new Failure(claim, reason, this.rules.settings().backoff(), false));
	}

	/**
	 * Adds an event that others can claim at once.
	 */
	void addLeftToOthers(ClaimedEvent claim, String reason) {
		stop(claim.lane());
		this.uncounted.add(new Failure(claim, reason, Duration.ZERO, false));
	}

	void add(ClaimedEvent claim, Outcome outcome) {
		if (outcome instanceof Outcome.Delivered) {
			this.delivered.add(claim);
			this.toDelete.add(claim);
		}
		else if (outcome instanceof Outcome.Unavailable) {
			release(claim);
		}
		else if (outcome instanceof Outcome.Reject reject) {
			addRefused(claim, reject.reason());
		}
		else if (outcome instanceof Outcome.Retry retry) {
			addFailed(claim, retry);
		}
		else {
			throw new IllegalStateException("The outcome " + outcome + " is unknown");
		}
	}

	private void addFailed(ClaimedEvent claim, Outcome.Retry retry) {
		int used = claim.event().attempts();
		if (used >= this.rules.attempts()) {
			addRefused(claim, retry.reason());
		}
		else {
			stop(claim.lane());
			this.postponed.add(new Failure(claim, retry.reason(), Objects.requireNonNullElseGet(retry.after(),
					() -> new Backoff(this.rules.settings().backoff(), this.rules.maxBackoff()).after(used))));
		}
	}

	/**
	 * The attempt that the policy grants must not exceed the limit of attempts, because
	 * an event above it is claimed without its payload.
	 */
	private void addRefused(ClaimedEvent claim, String reason) {
		Optional<Duration> granted = (claim.undeliverable() == null) ? askPolicy(claim.event(), reason)
				: Optional.empty();
		if (granted.isPresent()) {
			stop(claim.lane());
			boolean counted = claim.event().attempts() < this.rules.attempts();
			(counted ? this.postponed : this.uncounted).add(new Failure(claim, reason, granted.get(), counted));
		}
		else {
			addDead(claim, reason);
		}
	}

	private Optional<Duration> askPolicy(SerializedEvent event, String reason) {
		try {
			return Objects.requireNonNull(this.rules.policy().beforeDeadLetter(event, reason));
		}
		// An error must not end the worker. A message could contain a part of the event.
		catch (Throwable ex) {
			logger.warn("The DeadLetterPolicy failed with {} for an event of type {}, which becomes dead",
					ex.getClass().getName(), event.type());
			logger.debug("The stack trace of the failure above", ex);
			return Optional.empty();
		}
	}

	private void addDead(ClaimedEvent claim, String reason) {
		stop(claim.lane());
		List<Failure> list = this.rules.blocks(claim) ? this.blocked : this.dead;
		list.add(new Failure(claim, reason, Duration.ZERO));
	}

	List<ClaimedEvent> delivered() {
		return this.delivered;
	}

	/**
	 * The rows that can be claimed again at once.
	 */
	List<ClaimedEvent> released() {
		return this.released;
	}

	/**
	 * The rows that left their lanes without having been delivered.
	 */
	List<ClaimedEvent> dead() {
		return this.dead.stream().map(Failure::claim).toList();
	}

	/**
	 * Stores the outcomes. Can be repeated after a failure.
	 * <p>
	 * A change that takes an attempt back is tried only once: if its reply is lost,
	 * another instance may have claimed the row since, with the same number of attempts,
	 * and a repetition would end that lease. If the change fails, the lease of these rows
	 * ends by itself.
	 * @return the numbers of events
	 */
	BatchResult store() {
		EventTable table = this.rules.table();
		int step = 0;
		storeStep(step++, this.toDelete, true, table::delete);
		storeStep(step++, this.postponed, true, table::postpone);
		storeStep(step++, this.blocked, true, table::block);
		storeStep(step++, this.dead, true, table::moveToDead);
		storeStep(step++, this.uncounted, false, table::postpone);
		storeStep(step++, this.released, false, table::release);
		int postponed = this.postponed.size() + this.uncounted.size();
		int ended = this.blocked.size() + this.dead.size();
		int all = this.toDelete.size() + postponed + ended + this.released.size();
		return new BatchResult(this.delivered.size(), postponed, ended, this.released.size(), all - this.changed);
	}

	private <T> void storeStep(int step, List<T> rows, boolean repeatable, ToIntFunction<List<T>> change) {
		if (this.nextStep == step) {
			this.nextStep += repeatable ? 0 : 1;
			this.changed += rows.isEmpty() ? 0 : change.applyAsInt(rows);
			this.nextStep = step + 1;
		}
	}

	/**
	 * The settings that all settlements share.
	 *
	 * @param blocking the topics whose keys are blocked by an event without a next
	 * attempt
	 * @param policy asked before an event becomes dead
	 * @param attempts how many attempts an event has before it is dead
	 * @param maxBackoff the longest wait between two attempts
	 */
	record Rules(EventTable table, Predicate<String> blocking, RelaySettings settings, DeadLetterPolicy policy,
			int attempts, Duration maxBackoff) {

		Rules(EventTable table, Predicate<String> blocking, RelaySettings settings, DeadLetterPolicy policy) {
			this(table, blocking, settings, policy, settings.attempts(), settings.maxBackoff());
		}

		Rules of(EventHandler handler) {
			return new Rules(this.table, this.blocking, this.settings, this.policy, handler.attempts(),
					handler.maxBackoff());
		}

		boolean blocks(ClaimedEvent claim) {
			SerializedEvent event = claim.event();
			return event.key() != null && this.blocking.test(event.topic())
					&& claim.lane() == LaneHash.of(event.topic(), event.key());
		}

	}

}
