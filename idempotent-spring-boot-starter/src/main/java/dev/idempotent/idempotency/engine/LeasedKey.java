package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStore.Renewal;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim of a key in the store, whose lease is renewed until the claim is settled: it is
 * completed or released once. The store decides on the key, or refuses duplicates in
 * front of the database that does. Responses are in their stored form.
 */
final class LeasedKey {

	private static final Logger logger = LoggerFactory.getLogger(LeasedKey.class);

	private static final int RENEWALS_PER_LEASE = 3;

	private final ClaimRequest request;

	private final boolean decides;

	private final Leases leases;

	private final ObservedStore store;

	private final InFlightKeys running;

	/**
	 * Held to settle and to renew: a renewal after the settlement would claim the key
	 * again.
	 */
	private final ReentrantLock lock = new ReentrantLock();

	private boolean settled;

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

	private volatile InFlightKeys.@Nullable Run run;

	/**
	 * The time between two renewals in nanoseconds.
	 */
	private final long renewalPeriod;

	private final AtomicBoolean renewing = new AtomicBoolean();

	private volatile long renewalsBegan;

	private volatile long lastRenewal;

	private volatile long renewalDue;

	/**
	 * Creates a claim.
	 * @param decides whether the store decides on the key, and not a database behind it
	 * @param running where the run of this process is registered
	 */
	LeasedKey(ClaimRequest request, boolean decides, Leases leases, InFlightKeys running) {
		this.request = request;
		this.decides = decides;
		this.leases = leases;
		this.store = leases.store;
		this.running = running;
		this.renewalPeriod = Math.max(1, request.lease().toNanos() / RENEWALS_PER_LEASE);
	}

	/**
	 * Creates another claim of the key: each is settled once.
	 */
	LeasedKey withNewToken() {
		return new LeasedKey(this.request.withNewToken(), this.decides, this.leases, this.running);
	}

	ClaimRequest request() {
		return this.request;
	}

	/**
	 * Claims the key.
	 * @return the outcome, as {@link Claimant#claim()} describes it
	 */
	Claim claim() {
		if (isStoreSkipped()) {
			this.run = this.running.begin(this.request);
			return new Claim.Acquired();
		}
		this.called = true;
		Claim claim = askStore();
		if (claim.isAcquired()) {
			this.run = this.running.begin(this.request);
			beginRenewals();
		}
		else if (claim instanceof Claim.Pending pending) {
			this.running.refuse(this.request.key(), pending.remainingLease());
		}
		else if (claim instanceof Claim.Mismatched mismatched && mismatched.remainingLease() != null) {
			this.running.refuse(this.request.key(), mismatched.remainingLease());
		}
		return claim;
	}

	private Claim askStore() {
		try {
			Claim claim = this.store.claim(this.request);
			this.granted = claim.isAcquired();
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (isStoreDispensable()) {
				this.unprotected = this.decides;
				return new Claim.Acquired();
			}
			retryLater(StoreVerb.RELEASE, 0, this::releaseInStore);
			throw ex;
		}
	}

	/**
	 * Begins the run although the store has a response, which is removed once the work is
	 * done again.
	 */
	void skipStore() {
		this.called = false;
		this.outdated = true;
		this.run = this.running.begin(this.request);
	}

	/**
	 * Returns whether there is no store in front of the database, or whether it is known
	 * to be unreachable.
	 */
	private boolean isStoreSkipped() {
		return !this.decides && (this.store.isDatabase() || this.store.isUnreachable());
	}

	/**
	 * Returns whether work may run while the store is unreachable.
	 */
	private boolean isStoreDispensable() {
		return !this.decides || this.store.isDispensable();
	}

	/**
	 * Returns whether the store granted the claim, so that it refuses duplicates.
	 */
	boolean isGrantedByStore() {
		return this.granted;
	}

	/**
	 * Returns whether the work runs although the store that decides did not grant the
	 * claim.
	 */
	boolean isUnprotected() {
		return this.unprotected;
	}

	/**
	 * Returns whether the response was not stored because another claimant has the key.
	 */
	boolean isLost() {
		return this.lost;
	}

	/**
	 * Claims the key once more.
	 * @return {@code false} if another claimant has it, or if this claim is settled
	 */
	boolean confirm() {
		AtomicBoolean confirmed = new AtomicBoolean();
		unlessSettled(() -> confirmed.set(isGrantedAgain()));
		return confirmed.get();
	}

	private boolean isGrantedAgain() {
		try {
			return this.store.claim(this.request).isAcquired();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (isStoreDispensable()) {
				return true;
			}
			throw ex;
		}
	}

	/**
	 * Stores the response, as {@link Claimant#complete} does.
	 */
	void complete(StoredResponse response, Duration retention) {
		if (this.outdated && !isStoreSkipped()) {
			forgetOutdated();
		}
		Runnable complete = () -> settleOnce(() -> completeInStore(response, retention));
		Runnable completeWithoutResponse = () -> settleOnce(() -> completeInStore(StoredResponse.notKept(), retention));
		try {
			if (!isSettledNow(StoreVerb.COMPLETE, complete)
					&& !retryLater(StoreVerb.COMPLETE, response.size(), complete)
					&& !retryLater(StoreVerb.COMPLETE, 0, completeWithoutResponse)) {
				stopRenewals();
			}
		}
		finally {
			endRun();
		}
	}

	private void completeInStore(StoredResponse response, Duration retention) {
		boolean own = this.store.complete(this.request, response, retention);
		if (!own && this.decides) {
			this.lost = true;
			this.store.leaseLost(this.request.key());
			logger.warn(
					"Key {} was taken over because its lease of {} expired without a renewal; the work may have run twice, "
							+ "and this response is not stored",
					this.request.key(), this.request.lease());
		}
	}

	/**
	 * The next claim stores the response of the database. A response that stays is only
	 * replayed while the database has its epoch.
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
		Runnable release = () -> settleOnce(this::releaseInStore);
		try {
			if (!isSettledNow(StoreVerb.RELEASE, release) && !retryLater(StoreVerb.RELEASE, 0, release)) {
				stopRenewals();
			}
		}
		finally {
			endRun();
		}
	}

	private void releaseInStore() {
		boolean unused = this.store.release(this.request.key(), this.request.token());
	}

	/**
	 * Stops renewing the lease without settling the claim.
	 */
	void stopRenewal() {
		stopRenewals();
		endRun();
	}

	/**
	 * Settles the claim in the store, if the store has it.
	 * @return {@code false} if the store is unreachable
	 */
	private boolean isSettledNow(StoreVerb verb, Runnable step) {
		if (!this.called) {
			return true;
		}
		if (isStoreSkipped()) {
			return false;
		}
		try {
			step.run();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return false;
		}
		catch (RuntimeException ex) {
			logger.error("Could not {} key {}; it stays claimed until its lease of {} expires",
					verb.name().toLowerCase(Locale.ROOT), this.request.key(), this.request.lease(), ex);
		}
		return true;
	}

	private boolean retryLater(StoreVerb verb, int size, Runnable step) {
		InFlightKeys.Run begun = this.run;
		return this.leases.scheduler.retry(verb, size, (begun != null) ? begun.start() : System.nanoTime(), step);
	}

	private void endRun() {
		InFlightKeys.Run begun = this.run;
		if (begun != null) {
			this.running.end(begun);
		}
	}

	/**
	 * Settles the claim once, if the step succeeds. While the store is unreachable the
	 * renewals go on.
	 */
	private void settleOnce(Runnable step) {
		unlessSettled(() -> {
			try {
				step.run();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				stopRenewals();
				throw ex;
			}
			this.settled = true;
			this.leases.renewed.remove(this);
		});
	}

	private void unlessSettled(Runnable step) {
		this.lock.lock();
		try {
			if (!this.settled) {
				step.run();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void beginRenewals() {
		unlessSettled(() -> {
			this.renewalsBegan = System.nanoTime();
			this.lastRenewal = this.renewalsBegan;
			this.leases.begin(this);
		});
	}

	private void stopRenewals() {
		unlessSettled(() -> this.leases.renewed.remove(this));
	}

	/**
	 * Renews the lease alone. An unreachable store is called again at the next renewal.
	 */
	private void renew() {
		unlessSettled(() -> {
			try {
				if (isOverdue()) {
					stopRenewal();
					logger.warn("Key {} has been claimed for longer than idempotent.max-run ({}); it stays claimed "
							+ "until its lease expires", this.request.key(), this.leases.maxRun);
				}
				else if (!this.store.renew(this.request)) {
					claimAgain();
				}
				this.lastRenewal = System.nanoTime();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				logger.debug("The lease of key {} could not be renewed", this.request.key(), ex);
			}
		});
	}

	/**
	 * A store that lost its data, or was unreachable when an unprotected run began,
	 * grants the key to the next claim, which should be the one of the current run. A
	 * completed key may be this claimant's own, if the reply was lost.
	 */
	private void claimAgain() {
		Claim claim = this.store.claim(this.request);
		if (claim.isAcquired()) {
			return;
		}
		stopRenewals();
		if (!claim.isCompleted() && this.decides) {
			this.store.leaseLost(this.request.key());
			logger.warn("Key {} was lost while its work was running; another request may run the same work",
					this.request.key());
		}
	}

	private boolean isOverdue() {
		return System.nanoTime() - this.renewalsBegan > this.leases.maxRun.toNanos();
	}

	/**
	 * Returns whether the next renewal is due, or almost: a scan reads all claims, so
	 * thousands of them must not need a scan each.
	 */
	private boolean isDue(long now) {
		return this.renewalDue - this.renewalPeriod / 8 <= now;
	}

	/**
	 * Returns whether a quarter of the time between two renewals has passed.
	 */
	private boolean isSoonDue() {
		return System.nanoTime() - this.lastRenewal > this.renewalPeriod / 4 && !isOverdue();
	}

	/**
	 * The renewal as an element of a batch.
	 */
	private Renewal renewal() {
		return new Renewal(this.request.key(), this.request.token(), this.request.lease());
	}

	/**
	 * Renews the leases of all claims of this process. Most are settled before they are
	 * due, so none has a timer of its own: a scan runs when the first of them is due, and
	 * none without claims. A store in a database renews the leases that are due at about
	 * the same time in one batch, which takes one connection.
	 */
	static final class Leases {

		private static final long NEVER = Long.MAX_VALUE;

		private final ObservedStore store;

		private final ClaimScheduler scheduler;

		private final Duration maxRun;

		private final Set<LeasedKey> renewed = ConcurrentHashMap.newKeySet();

		private final ReentrantLock batches = new ReentrantLock();

		private final ReentrantLock scans = new ReentrantLock();

		/**
		 * All times are relative to this one, so that they can be compared.
		 */
		private final long origin = System.nanoTime();

		private volatile long nextScan = NEVER;

		private Future<?> scheduledScan = CompletableFuture.completedFuture(null);

		/**
		 * Creates the leases of a store.
		 * @param maxRun how long after its claim a lease is renewed
		 */
		Leases(ObservedStore store, ClaimScheduler scheduler, Duration maxRun) {
			this.store = store;
			this.scheduler = scheduler;
			this.maxRun = maxRun;
		}

		private void begin(LeasedKey claim) {
			claim.renewalDue = now() + claim.renewalPeriod;
			this.renewed.add(claim);
			scanBy(claim.renewalDue);
		}

		/**
		 * Schedules a scan unless an earlier one is due.
		 */
		private void scanBy(long due) {
			if (due >= this.nextScan) {
				return;
			}
			this.scans.lock();
			try {
				if (due < this.nextScan) {
					this.scheduledScan.cancel(false);
					this.scheduledScan = this.scheduler.after(due - now(), this::scan);
					this.nextScan = due;
				}
			}
			finally {
				this.scans.unlock();
			}
		}

		/**
		 * Starts the renewals that are due, and schedules the next scan.
		 */
		private void scan() {
			// Before the claims are read: one that begins meanwhile is either read or
			// schedules a scan itself.
			forgetScan();
			long now = now();
			long next = NEVER;
			try {
				for (LeasedKey claim : this.renewed) {
					boolean due = claim.isDue(now);
					if (due) {
						claim.renewalDue = now + claim.renewalPeriod;
					}
					next = Math.min(next, claim.renewalDue);
					if (due) {
						Future<?> unused = this.scheduler.after(0, () -> renew(claim));
					}
				}
			}
			finally {
				scanBy(next);
			}
		}

		/**
		 * Waits for the thread that has scheduled this scan, which sets the time
		 * afterwards.
		 */
		private void forgetScan() {
			this.scans.lock();
			try {
				this.nextScan = NEVER;
			}
			finally {
				this.scans.unlock();
			}
		}

		private long now() {
			return System.nanoTime() - this.origin;
		}

		private void renew(LeasedKey claim) {
			// A store that times out may take longer than the time between two renewals.
			if (!claim.renewing.compareAndSet(false, true)) {
				return;
			}
			try {
				if (!this.store.isDatabase() || claim.isOverdue() || !renewWithOthers(claim)) {
					claim.renew();
				}
			}
			finally {
				claim.renewalDue = now() + claim.renewalPeriod;
				claim.renewing.set(false);
				if (this.renewed.contains(claim)) {
					scanBy(claim.renewalDue);
				}
			}
		}

		/**
		 * Renews a lease that is due together with those that will be due soon.
		 * @return {@code false} if the lease must be renewed alone
		 */
		private boolean renewWithOthers(LeasedKey due) {
			this.batches.lock();
			try {
				if (!due.isSoonDue()) {
					return true;
				}
				List<LeasedKey> soon = this.renewed.stream().filter(LeasedKey::isSoonDue).toList();
				Set<Renewal> done = this.store.renewAll(soon.stream().map(LeasedKey::renewal).toList());
				long now = System.nanoTime();
				soon.stream()
					.filter((claim) -> done.contains(claim.renewal()))
					.forEach((claim) -> claim.lastRenewal = now);
				return !due.isSoonDue();
			}
			finally {
				this.batches.unlock();
			}
		}

	}

}
