package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim of a key in a store, whose lease is renewed until the claim is settled.
 * Responses are in their stored form.
 */
final class StoreClaim {

	private static final Logger logger = LoggerFactory.getLogger(StoreClaim.class);

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

	/**
	 * Whether the store has a response to work that the database has lost.
	 */
	private boolean outdated;

	private boolean granted;

	private boolean unprotected;

	private volatile boolean lost;

	private volatile RunningClaims.@Nullable Run run;

	StoreClaim(ClaimRequest request, GuardedStore store, BackgroundWork background, RunningClaims running,
			LeaseRenewals renewals) {
		this.request = request;
		this.store = store;
		this.background = background;
		this.running = running;
		this.renewals = renewals;
	}

	/**
	 * Claims the key.
	 * @return the outcome, as {@link Claimant#claim()} describes it
	 */
	Claim claim() {
		if (this.store.isSkipped()) {
			this.run = this.running.begin(this.request.key());
			return new Claim.Acquired();
		}
		this.called = true;
		Claim claim = askStore();
		if (claim.isAcquired()) {
			this.run = this.running.begin(this.request.key());
			if (this.store.remembersClaims()) {
				this.renewals.begin(this.request, this.store, this.settlement, this::stopRenewal);
			}
		}
		return claim;
	}

	/**
	 * Begins the run although the store has a response, which is removed once the work is
	 * done again.
	 */
	void skipStore() {
		this.called = false;
		this.outdated = true;
		this.run = this.running.begin(this.request.key());
	}

	/**
	 * Claims the key once more.
	 * @return {@code false} if another claimant has it, or if this claim is settled
	 */
	boolean confirm() {
		AtomicBoolean confirmed = new AtomicBoolean();
		this.settlement.whileOpen(() -> confirmed.set(isGrantedAgain()));
		return confirmed.get();
	}

	private boolean isGrantedAgain() {
		try {
			return this.store.claim(this.request).isAcquired();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (this.store.isDispensable()) {
				return true;
			}
			throw ex;
		}
	}

	/**
	 * Stores the response, as {@link Claimant#complete} does.
	 */
	void complete(StoredResponse response, Duration retention) {
		if (this.outdated && !this.store.isSkipped()) {
			forgetOutdated();
		}
		settle(StoreVerb.COMPLETE, () -> store(response, retention),
				(complete) -> retry(StoreVerb.COMPLETE, response.size(), complete) || retry(StoreVerb.COMPLETE, 0,
						() -> this.settlement.settleBy(() -> store(StoredResponse.notKept(), retention))));
	}

	/**
	 * The next claim stores the response of the database. A response that stays is only
	 * replayed while the database tells its epoch.
	 */
	private void forgetOutdated() {
		IdempotencyKey key = this.request.key();
		try {
			StoredKey found = this.store.find(key);
			if (found != null && found.state() == StoredKey.State.COMPLETED) {
				boolean unused = this.store.forget(key, found.token());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The outdated response of key {} stays in the store", key, ex);
		}
	}

	/**
	 * Frees the key, as {@link Claimant#release()} does.
	 */
	void release() {
		settle(StoreVerb.RELEASE, () -> this.store.release(this.request),
				(release) -> retry(StoreVerb.RELEASE, 0, release));
	}

	/**
	 * Stops renewing the lease without settling the claim.
	 */
	void stopRenewal() {
		this.settlement.stopRenewal();
		endRun();
	}

	/**
	 * Returns whether the store granted the claim, so that it refuses duplicates.
	 */
	boolean isGrantedByStore() {
		return this.granted;
	}

	/**
	 * Returns whether the response was not stored because another claimant has the key.
	 */
	boolean isLost() {
		return this.lost;
	}

	/**
	 * Returns whether the work runs although the store that decides did not grant the
	 * claim.
	 */
	boolean isUnprotected() {
		return this.unprotected;
	}

	private Claim askStore() {
		try {
			Claim claim = this.store.claim(this.request);
			this.granted = claim.isAcquired() && this.store.remembersClaims();
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (this.store.isDispensable()) {
				this.unprotected = this.store.decides();
				return new Claim.Acquired();
			}
			retry(StoreVerb.RELEASE, 0, () -> this.store.release(this.request));
			throw ex;
		}
	}

	private void store(StoredResponse response, Duration retention) {
		boolean own = this.store.complete(this.request, response, retention);
		if (!own && this.store.decides()) {
			this.lost = true;
			this.store.leaseLost(this.request);
			logger.warn(
					"Key {} was taken over because its lease of {} expired without a renewal; the work may have run twice, "
							+ "and this response is not stored",
					this.request.key(), this.request.lease());
		}
	}

	private void settle(StoreVerb verb, Runnable step, Predicate<Runnable> later) {
		if (!this.called) {
			endRun();
			return;
		}
		Runnable once = () -> this.settlement.settleBy(step);
		try {
			if ((this.store.isSkipped() || !isReached(once)) && !later.test(once)) {
				this.settlement.stopRenewal();
			}
		}
		catch (RuntimeException ex) {
			logger.error("Could not {} key {}; it stays claimed until its lease of {} expires",
					verb.name().toLowerCase(Locale.ROOT), this.request.key(), this.request.lease(), ex);
		}
		finally {
			endRun();
		}
	}

	private boolean retry(StoreVerb verb, int size, Runnable step) {
		RunningClaims.Run begun = this.run;
		return this.background.retry(verb, size, (begun != null) ? begun.start() : System.nanoTime(), step);
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
		RunningClaims.Run begun = this.run;
		if (begun != null) {
			this.running.end(this.request.key(), begun);
		}
	}

}
