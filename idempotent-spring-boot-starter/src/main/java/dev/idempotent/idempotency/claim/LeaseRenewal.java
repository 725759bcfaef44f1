package dev.idempotent.idempotency.claim;

import java.util.concurrent.Future;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.ClaimedKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
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

	private final ClaimRequest request;

	private final Settlement settlement;

	private final ClaimedKey held;

	private final long start = System.nanoTime();

	private volatile long lastRenewal = this.start;

	/**
	 * Creates a renewal.
	 * @param decides whether the store has the last word on the key
	 */
	LeaseRenewal(IdempotencyGuard guard, GuardedStore store, boolean decides, ClaimRequest request,
			Settlement settlement) {
		this.guard = guard;
		this.store = store;
		this.decides = decides;
		this.request = request;
		this.settlement = settlement;
		this.held = new ClaimedKey(request.key(), request.token(), request.lease());
	}

	void begin() {
		this.settlement.renewBy(() -> {
			this.guard.renewals().add(this);
			Future<?> schedule = this.guard.background()
				.every(this.request.lease().dividedBy(RENEWALS_PER_LEASE), this::renewWhenDue);
			return () -> {
				schedule.cancel(false);
				this.guard.renewals().remove(this);
			};
		});
	}

	ClaimedKey held() {
		return this.held;
	}

	/**
	 * Tells whether a quarter of the time between two renewals is over.
	 */
	boolean isSoonDue() {
		long elapsed = System.nanoTime() - this.lastRenewal;
		return elapsed > this.request.lease().toNanos() / RENEWALS_PER_LEASE / 4 && !isOverdrawn();
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
						this.request.key(), this.guard.maxRun());
			}
			else if (!this.store.store().renew(this.request.key(), this.request.token(), this.request.lease())) {
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
			.claim(this.request.key(), this.request.fingerprint(), this.request.token(), this.request.lease());
		if (!claim.isAcquired()) {
			this.settlement.stopRenewal();
		}
		boolean lost = claim.fold((acquired) -> false, (pending) -> true, (completed) -> false, (mismatched) -> true);
		if (lost && this.decides) {
			logger.warn("Key {} was lost while its handler ran; another request may run the same work",
					this.request.key());
		}
	}

}
