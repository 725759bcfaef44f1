package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the lease of one claim until it is settled, or until the maximum duration of a
 * run has passed.
 */
final class LeaseRenewal {

	private static final Logger logger = LoggerFactory.getLogger(LeaseRenewal.class);

	private static final int RENEWALS_PER_LEASE = 3;

	private final ClaimRequest request;

	private final GuardedStore store;

	private final Settlement settlement;

	private final Duration maxRun;

	private final Runnable overdue;

	/**
	 * The time between two renewals in nanoseconds.
	 */
	private final long period;

	private final long start = System.nanoTime();

	private volatile long lastRenewal = this.start;

	private volatile long due;

	private final AtomicBoolean renewing = new AtomicBoolean();

	LeaseRenewal(ClaimRequest request, GuardedStore store, Settlement settlement, Duration maxRun, Runnable overdue) {
		this.request = request;
		this.store = store;
		this.settlement = settlement;
		this.maxRun = maxRun;
		this.overdue = overdue;
		this.period = Math.max(1, request.lease().toNanos() / RENEWALS_PER_LEASE);
	}

	long period() {
		return this.period;
	}

	/**
	 * Returns when the next renewal is due.
	 */
	long due() {
		return this.due;
	}

	/**
	 * Returns whether the next renewal is due, or almost: a scan reads all claims, so
	 * thousands of them must not need a scan each.
	 */
	boolean isDue(long now) {
		return this.due - this.period / 8 <= now;
	}

	void setDue(long next) {
		this.due = next;
	}

	/**
	 * Begins a renewal.
	 * @return {@code false} if one is in progress
	 */
	boolean begin() {
		return this.renewing.compareAndSet(false, true);
	}

	/**
	 * Ends the renewal.
	 * @param next when the next one is due
	 */
	void end(long next) {
		this.due = next;
		this.renewing.set(false);
	}

	GuardedStore store() {
		return this.store;
	}

	/**
	 * The renewal as an element of a batch.
	 */
	Renewal step() {
		return new Renewal(this.request.key(), this.request.token(), this.request.lease());
	}

	/**
	 * Returns whether the lease can be renewed in a batch.
	 */
	boolean isShared() {
		return this.store.renewsAll() && !isOverdue();
	}

	/**
	 * Returns whether a quarter of the time between two renewals has passed.
	 */
	boolean isSoonDue() {
		long elapsed = System.nanoTime() - this.lastRenewal;
		return elapsed > this.period / 4 && !isOverdue();
	}

	void renewed() {
		this.lastRenewal = System.nanoTime();
	}

	/**
	 * Renews the lease alone. An unreachable store is called again at the next renewal.
	 */
	void renew() {
		this.settlement.whileOpen(() -> {
			try {
				if (isOverdue()) {
					this.overdue.run();
					logger.warn("Key {} has been claimed for longer than idempotent.max-run ({}); it stays claimed "
							+ "until its lease expires", this.request.key(), this.maxRun);
				}
				else if (!this.store.renew(this.request)) {
					reclaim();
				}
				renewed();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				logger.debug("The lease of key {} could not be renewed", this.request.key(), ex);
			}
		});
	}

	private boolean isOverdue() {
		return System.nanoTime() - this.start > this.maxRun.toNanos();
	}

	/**
	 * A store that lost its data, or was unreachable when an unprotected run began,
	 * grants the key to the next claim, which should be the one of the current run. A
	 * completed key may be this claimant's own, if the reply was lost.
	 */
	private void reclaim() {
		Claim claim = this.store.claim(this.request);
		if (!claim.isAcquired()) {
			this.settlement.stopRenewal();
		}
		boolean lost = claim.fold((acquired) -> false, (pending) -> true, (completed) -> false, (mismatched) -> true);
		if (lost && this.store.decides()) {
			this.store.leaseLost(this.request);
			logger.warn("Key {} was lost while its work was running; another request may run the same work",
					this.request.key());
		}
	}

}
