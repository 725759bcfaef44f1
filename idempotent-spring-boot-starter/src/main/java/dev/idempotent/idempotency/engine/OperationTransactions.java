package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.Transaction;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.concurrent.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of one operation, in which the database decides on keys: begins them,
 * looks up what they have committed, and inquires how one has ended whose commit has
 * failed. Its calls are observed, and each outage is logged once.
 */
final class OperationTransactions {

	private static final Logger logger = LoggerFactory.getLogger(OperationTransactions.class);

	/**
	 * The name in observations, as of the store that is a database.
	 */
	private static final String DATABASE = "Database";

	private static final int INQUIRIES = 5;

	private static final long INQUIRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final IdempotencyTransactions transactions;

	private final OutageLog outage;

	private final ObserverList observers;

	/**
	 * Creates the transactions of an operation.
	 * @param outage shared by all operations on the database
	 */
	OperationTransactions(IdempotencyTransactions transactions, OutageLog outage, ObserverList observers) {
		this.transactions = transactions;
		this.outage = outage;
		this.observers = observers;
	}

	/**
	 * Creates the log of outages of the database.
	 */
	static OutageLog log() {
		return new OutageLog(logger, "The database is unreachable; until it is reachable again, requests under "
				+ "Guarantee.TRANSACTION are refused with 503", "The database is reachable again");
	}

	Transaction begin(ClaimRequest request, boolean contended) {
		return observed(StoreVerb.CLAIM, () -> beginUnobserved(request, contended));
	}

	/**
	 * Looks up the committed record of a key that is pending in the store, if its owner
	 * seems to have died: a running owner renews its lease long before half of it has
	 * passed.
	 * @return the outcome on record, or the given one if there is no record or it is
	 * unknown
	 */
	Claim find(ClaimRequest request, Claim.Pending pending) {
		if (pending.remainingLease().compareTo(request.lease().dividedBy(2)) >= 0) {
			return pending;
		}
		try {
			Claim found = this.transactions.find(request.key(), request.fingerprint());
			return (found != null) ? found : pending;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return pending;
		}
	}

	/**
	 * Looks up the committed record of a key.
	 * @return the outcome on record, or {@code null} if there is none
	 */
	@Nullable Claim find(ClaimRequest request) {
		return this.<@Nullable Claim>observed(StoreVerb.CLAIM,
				() -> this.transactions.find(request.key(), request.fingerprint()));
	}

	/**
	 * Returns whether the database has what was committed in this epoch.
	 */
	boolean isCurrent(@Nullable String epoch) {
		return this.transactions.isCurrent(epoch);
	}

	/**
	 * Completes another key in the open transaction of the calling thread, as
	 * {@link IdempotencyTransactions#completeIfFree} does.
	 */
	Claim completeIfFree(ClaimRequest request, StoredResponse response) {
		return observed(StoreVerb.COMPLETE, () -> this.transactions.completeIfFree(request.key(), request.fingerprint(),
				request.token(), response, request.retention()));
	}

	/**
	 * Completes another key at once, as {@link IdempotencyTransactions#completeAtOnce}
	 * does.
	 */
	Claim completeAtOnce(ClaimRequest request, String token, StoredResponse response, Duration retention) {
		return observed(StoreVerb.COMPLETE, () -> this.transactions.completeAtOnce(request.key(), request.fingerprint(),
				token, response, retention));
	}

	/**
	 * Determines how a transaction ended whose commit has failed. The failure does not
	 * prove a rollback: the reply may be lost, or a step after the commit failed.
	 * @param failure the failure of the commit; failed lookups are added to it as
	 * suppressed exceptions
	 * @return the outcome on record
	 * @throws WorkRolledBackException if the transaction was rolled back
	 * @throws IdempotencyStoreUnavailableException if the outcome is unknown
	 */
	Claim.Completed inquire(ClaimRequest request, Throwable failure) {
		Claim claim = claimOnceMore(request, failure);
		if (claim instanceof Claim.Completed completed) {
			return completed;
		}
		if (claim.isAcquired() || claim instanceof Claim.Mismatched) {
			throw new WorkRolledBackException(failure);
		}
		throw new IdempotencyStoreUnavailableException(
				"It is unknown whether the transaction of key " + request.key() + " was committed", failure);
	}

	/**
	 * Claims the key once more. The claim waits for a commit in progress, so if it finds
	 * no record there will be none. After a crash of the database the pool is full of
	 * dead connections, so an immediate failure is retried.
	 */
	private Claim claimOnceMore(ClaimRequest request, Throwable failure) {
		long start = System.nanoTime();
		for (int i = 0; i < INQUIRIES && System.nanoTime() - start < INQUIRY_NANOS; i++) {
			try {
				Transaction begun = beginUnobserved(request, false);
				if (begun.outcome().isAcquired()) {
					begun.rollback();
				}
				return begun.outcome();
			}
			catch (RuntimeException ex) {
				failure.addSuppressed(ex);
			}
		}
		return new Claim.Pending(request.lease());
	}

	private <T extends @Nullable Object> T observed(StoreVerb verb, Supplier<T> step) {
		long start = System.nanoTime();
		try {
			T reply = this.observers.observe(DATABASE, verb, step);
			this.outage.succeeded(start);
			return reply;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.outage.failed(start, ex);
			throw ex;
		}
	}

	private Transaction beginUnobserved(ClaimRequest request, boolean contended) {
		return this.transactions.begin(request.key(), request.fingerprint(), request.token(), request.lease(),
				contended);
	}

}
