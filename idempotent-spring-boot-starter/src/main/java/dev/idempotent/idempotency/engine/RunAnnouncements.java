package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.IdempotencyKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces to the store, in the background, the claims that operators may look for: the
 * claims of runs that last longer than a moment, and claims for which a request was
 * refused, because their owner may have died. Most runs end before that, and cost the
 * store nothing.
 */
final class RunAnnouncements {

	private static final Logger logger = LoggerFactory.getLogger(RunAnnouncements.class);

	private static final Duration PERIOD = Duration.ofSeconds(1);

	private static final int MAX_RUNS = 1000;

	private final ObservedStore store;

	private final ClaimScheduler scheduler;

	private final InFlightKeys running;

	private final AtomicBoolean scheduled = new AtomicBoolean();

	RunAnnouncements(ObservedStore store, ClaimScheduler scheduler) {
		this.store = store;
		this.scheduler = scheduler;
		// A database lists its rows.
		this.running = store.isDatabase() ? new InFlightKeys() : new InFlightKeys(this::schedule);
	}

	/**
	 * The claims that are announced.
	 */
	InFlightKeys running() {
		return this.running;
	}

	/**
	 * Announces the claims in a moment, and regularly until there are none.
	 */
	private void schedule() {
		// Read first: each run calls this, and most find it scheduled.
		if (!this.scheduled.get() && this.scheduled.compareAndSet(false, true)) {
			Future<?> unused = this.scheduler.after(PERIOD.toNanos(), this::announceRegularly);
		}
	}

	private void announceRegularly() {
		// Before the claims are read: one that begins meanwhile schedules the next time.
		this.scheduled.set(false);
		try {
			if (!this.store.isInOutage()) {
				announce(PERIOD);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The claims of this process could not be announced to the store", ex);
		}
		if (this.running.isInUse()) {
			schedule();
		}
	}

	/**
	 * Announces the claims now.
	 * @param age how long a run has lasted at least
	 */
	void announce(Duration age) {
		Map<IdempotencyKey, Duration> pending = this.running.refusing();
		Map<IdempotencyKey, Duration> refusing = Map.copyOf(pending);
		this.running.oldest(MAX_RUNS, age).forEach((run) -> pending.put(run.request().key(), run.request().lease()));
		if (!pending.isEmpty()) {
			this.store.announce(pending);
		}
		this.running.announced(refusing.keySet());
	}

}
