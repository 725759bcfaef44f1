package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims a key in a store, and renews the lease until the claim is settled.
 */
final class LeaseClaimant implements Claimant {

	private static final Logger logger = LoggerFactory.getLogger(LeaseClaimant.class);

	private final ClaimRequest request;

	private final GuardedStore store;

	private final BackgroundWork background;

	private final RunningClaims running;

	private final LeaseRenewals renewals;

	private final Settlement settlement = new Settlement();

	/**
	 * Whether the store was called and may have stored the claim.
	 */
	private boolean called;

	private boolean granted;

	private volatile @Nullable CountDownLatch run;

	LeaseClaimant(ClaimRequest request, GuardedStore store, BackgroundWork background, RunningClaims running,
			LeaseRenewals renewals) {
		this.request = request;
		this.store = store;
		this.background = background;
		this.running = running;
		this.renewals = renewals;
	}

	@Override
	public Claim claim() {
		if (this.store.isSkipped()) {
			return new Claim.Acquired();
		}
		this.called = true;
		Claim claim = askStore();
		if (claim.isAcquired()) {
			this.run = this.running.begin(this.request.key());
			if (this.store.remembersClaims()) {
				this.renewals.begin(this.request, this.store, this.settlement);
			}
		}
		return claim;
	}

	@Override
	public Claim claimOrWait(Duration timeout) {
		return this.running.await(this.request.key(), claim(), this::claim, timeout);
	}

	@Override
	public IdempotencyContext context() {
		return this.request.context();
	}

	@Override
	public void complete(StoredResponse response) {
		complete(response, this.request.retention());
	}

	void complete(StoredResponse response, Duration retention) {
		settle("complete", () -> store(response, retention),
				(complete) -> this.background.retry("complete", response.size(), complete)
						|| this.background.retry("complete", 0,
								() -> this.settlement.settleBy(() -> store(StoredResponse.notKept(), retention))));
	}

	@Override
	public void release() {
		settle("release", () -> this.store.release(this.request),
				(release) -> this.background.retry("release", 0, release));
	}

	@Override
	public void stopRenewal() {
		this.settlement.stopRenewal();
		endRun();
	}

	/**
	 * Returns whether the store granted the claim, so that it refuses duplicates.
	 */
	boolean isGrantedByStore() {
		return this.granted;
	}

	private Claim askStore() {
		try {
			Claim claim = this.store.claim(this.request);
			this.granted = claim.isAcquired() && this.store.remembersClaims();
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (this.store.isDispensable()) {
				return new Claim.Acquired();
			}
			this.background.retry("release", 0, () -> this.store.release(this.request));
			throw ex;
		}
	}

	private void store(StoredResponse response, Duration retention) {
		boolean own = this.store.complete(this.request, response, retention);
		if (!own && this.store.decides()) {
			logger.warn(
					"Key {} was taken over because its lease of {} expired without a renewal; the work may have run twice, "
							+ "and this response is not stored",
					this.request.key(), this.request.lease());
		}
	}

	private void settle(String verb, Runnable step, Predicate<Runnable> later) {
		if (!this.called) {
			return;
		}
		Runnable once = () -> this.settlement.settleBy(step);
		try {
			if ((this.store.isSkipped() || !isReached(once)) && !later.test(once)) {
				this.settlement.stopRenewal();
			}
		}
		catch (RuntimeException ex) {
			logger.error("Could not {} key {}; it stays claimed until its lease of {} expires", verb,
					this.request.key(), this.request.lease(), ex);
		}
		finally {
			endRun();
		}
	}

	private static boolean isReached(Runnable step) {
		try {
			step.run();
			return true;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return false;
		}
	}

	private void endRun() {
		CountDownLatch begun = this.run;
		if (begun != null) {
			this.running.end(this.request.key(), begun);
		}
	}

}
