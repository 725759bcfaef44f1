package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request's request for a key: claims it once, and if it was acquired completes or
 * releases it once. The lease is renewed in between.
 */
public final class LeaseClaimant implements Claimant {

	private static final Logger logger = LoggerFactory.getLogger(LeaseClaimant.class);

	private final IdempotencyGuard guard;

	private final GuardedStore store;

	private final boolean decides;

	private final ClaimRequest request;

	private final Settlement settlement = new Settlement();

	/**
	 * Whether the store may know of the claim.
	 */
	private boolean asked;

	private boolean granted;

	private volatile @Nullable CountDownLatch run;

	/**
	 * Creates a claimant.
	 * @param decides whether the store has the last word on the key; else a database has,
	 * and the store is done without while it is unreachable
	 */
	LeaseClaimant(IdempotencyGuard guard, GuardedStore store, boolean decides, ClaimRequest request) {
		this.guard = guard;
		this.store = store;
		this.decides = decides;
		this.request = request;
	}

	/**
	 * Claims the key in one step of the store. While the store is unreachable the outcome
	 * is {@link Claim.Acquired} under {@link OnStoreFailure#PROCEED}.
	 * @return the outcome
	 * @throws IdempotencyStoreUnavailableException if the store is unreachable under
	 * {@link OnStoreFailure#REJECT}; a claim that it may have taken is released as soon
	 * as it answers
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	@Override
	public Claim claim() {
		Claim claim = askStore();
		if (claim.isAcquired() && this.asked) {
			this.run = this.guard.running().begin(this.request.key());
			new LeaseRenewal(this.guard, this.store, this.decides, this.request, this.settlement).begin();
		}
		return claim;
	}

	@Override
	public Claim claimOrWait(Duration patience) {
		return this.guard.running().await(this.request.key(), claim(), this::claim, patience);
	}

	/**
	 * Keeps the answer for retries. Never throws: while the store is unreachable the
	 * lease is kept and the answer stored in the background, or at least the fact that
	 * the work was done.
	 * @param response the answer
	 */
	public void complete(StoredResponse response) {
		complete(response, this.request.retention());
	}

	void complete(StoredResponse response, Duration retention) {
		settle("complete", keep(response, retention), (complete) -> {
			BackgroundWork background = this.guard.background();
			return background.retry("complete", response.size(), complete)
					|| background.retry("complete", 0, once(keep(StoredResponse.notKept(), retention)));
		});
	}

	/**
	 * Frees the key, so that a retry runs. Never throws: while the store is unreachable
	 * the key is freed in the background, or by the end of its lease.
	 */
	public void release() {
		settle("release", () -> this.store.store().release(this.request.key(), this.request.token()),
				(release) -> this.guard.background().retry("release", 0, release));
	}

	/**
	 * Leaves the key to the lease that it has, for work whose end may go unnoticed.
	 */
	public void stopRenewal() {
		this.settlement.stopRenewal();
		endRun();
	}

	@Override
	public IdempotencyContext context() {
		return this.request.context();
	}

	/**
	 * Tells whether the store itself has granted the last claim.
	 */
	boolean isGrantedByStore() {
		return this.granted;
	}

	private Claim askStore() {
		if (isSkipped()) {
			return new Claim.Acquired();
		}
		this.asked = true;
		try {
			Claim claim = this.store.store()
				.claim(this.request.key(), this.request.fingerprint(), this.request.token(), this.request.lease());
			this.store.answered();
			this.granted = claim.isAcquired() && this.store.keepsDuplicatesAway();
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.store.failed(ex);
			if (!this.decides || this.store.isDispensable()) {
				return new Claim.Acquired();
			}
			this.guard.background()
				.retry("release", 0, () -> this.store.store().release(this.request.key(), this.request.token()));
			throw ex;
		}
	}

	private boolean isSkipped() {
		return !this.decides && this.store.isSkipped();
	}

	private Runnable keep(StoredResponse response, Duration retention) {
		return () -> {
			if (!this.store.store()
				.complete(this.request.key(), this.request.fingerprint(), this.request.token(), response, retention)
					&& this.decides) {
				logger.warn(
						"Key {} was taken over while its owner was silent for longer than the lease of {}; "
								+ "the work may have run twice and this answer is not kept",
						this.request.key(), this.request.lease());
			}
		};
	}

	private void settle(String verb, Runnable step, Predicate<Runnable> later) {
		if (!this.asked) {
			return;
		}
		Runnable settle = once(step);
		try {
			if (isSkipped()) {
				postpone(settle, later);
				return;
			}
			settle.run();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.store.failed(ex);
			postpone(settle, later);
		}
		catch (RuntimeException ex) {
			logger.error("Could not {} key {}; it is left to its lease of {}", verb, this.request.key(),
					this.request.lease(), ex);
		}
		finally {
			endRun();
		}
	}

	private void postpone(Runnable settle, Predicate<Runnable> later) {
		if (!later.test(settle)) {
			this.settlement.stopRenewal();
		}
	}

	private Runnable once(Runnable step) {
		return () -> this.settlement.settleBy(() -> {
			step.run();
			this.store.answered();
		});
	}

	private void endRun() {
		CountDownLatch begun = this.run;
		if (begun != null) {
			this.guard.running().end(this.request.key(), begun);
		}
	}

}
