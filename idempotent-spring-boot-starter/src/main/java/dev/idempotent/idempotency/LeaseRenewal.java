package dev.idempotent.idempotency;

import java.util.concurrent.Future;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the lease of a claim until it is settled, or for as long as a run may take.
 */
final class LeaseRenewal {

	private static final Logger logger = LoggerFactory.getLogger(LeaseRenewal.class);

	private static final int RENEWALS_PER_LEASE = 3;

	private final IdempotencyGuard guard;

	private final GuardedStore store;

	private final boolean decides;

	private final Bid bid;

	private final Settlement settlement;

	private final HeldKey held;

	private final long start = System.nanoTime();

	private volatile long lastRenewal = this.start;

	/**
	 * Creates a renewal.
	 * @param decides whether the store has the last word on the key
	 */
	LeaseRenewal(IdempotencyGuard guard, GuardedStore store, boolean decides, Bid bid, Settlement settlement) {
		this.guard = guard;
		this.store = store;
		this.decides = decides;
		this.bid = bid;
		this.settlement = settlement;
		this.held = new HeldKey(bid.key(), bid.token(), bid.lease());
	}

	void begin() {
		this.settlement.renewBy(() -> {
			this.guard.renewals().add(this);
			Future<?> schedule = this.guard.background()
				.every(this.bid.lease().dividedBy(RENEWALS_PER_LEASE), this::renewWhenDue);
			return () -> {
				schedule.cancel(false);
				this.guard.renewals().remove(this);
			};
		});
	}

	HeldKey held() {
		return this.held;
	}

	/**
	 * Tells whether a quarter of the time between two renewals is over.
	 */
	boolean isSoonDue() {
		long elapsed = System.nanoTime() - this.lastRenewal;
		return elapsed > this.bid.lease().toNanos() / RENEWALS_PER_LEASE / 4 && !isOverdrawn();
	}

	void renewed() {
		this.lastRenewal = System.nanoTime();
	}

	private boolean isOverdrawn() {
		return System.nanoTime() - this.start > this.guard.maxRun().toNanos();
	}

	private void renewWhenDue() {
		boolean together = this.store.store().isDatabase() && !isOverdrawn();
		if (!together || !this.guard.renewals().renewWithOthers(this, this.store.store())) {
			this.settlement.whileOpen(this::renew);
		}
	}

	private void renew() {
		try {
			if (isOverdrawn()) {
				this.settlement.stopRenewal();
				logger.warn("Key {} has been held for longer than idempotent.max-run ({}); it is left to its lease",
						this.bid.key(), this.guard.maxRun());
			}
			else if (!this.store.store().renew(this.bid.key(), this.bid.token(), this.bid.lease())) {
				takeBack();
			}
			renewed();
			this.store.answered();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.store.failed(ex);
		}
	}

	/**
	 * A store that was wiped, or that was away when an unprotected run began, grants the
	 * key to whoever asks first: that should be the one that already runs. A completed
	 * key may be this claimant's own, if the reply was lost.
	 */
	private void takeBack() {
		Claim claim = this.store.store()
			.claim(this.bid.key(), this.bid.fingerprint(), this.bid.token(), this.bid.lease());
		if (!(claim instanceof Claim.Acquired)) {
			this.settlement.stopRenewal();
		}
		if (this.decides && (claim instanceof Claim.Pending || claim instanceof Claim.Mismatched)) {
			logger.warn("Key {} was lost while its handler ran; another request may run the same work", this.bid.key());
		}
	}

}
