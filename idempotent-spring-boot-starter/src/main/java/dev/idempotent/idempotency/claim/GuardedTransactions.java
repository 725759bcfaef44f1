package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.claim.IdempotencyTransactions.Transaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transactions of one operation, in which its database decides on keys. Logs each
 * outage of the database once.
 */
final class GuardedTransactions {

	private static final Logger logger = LoggerFactory.getLogger(GuardedTransactions.class);

	private static final int INQUIRIES = 5;

	private static final long INQUIRY_NANOS = Duration.ofSeconds(1).toNanos();

	private final IdempotencyTransactions transactions;

	private final Outage outage;

	/**
	 * Guards transactions.
	 * @param outage that of the database, which the operations share
	 */
	GuardedTransactions(IdempotencyTransactions transactions, Outage outage) {
		this.transactions = transactions;
		this.outage = outage;
	}

	Transaction begin(ClaimRequest request, boolean contended) {
		try {
			Transaction begun = beginUnguarded(request, contended);
			if (this.outage.end()) {
				logger.info("The database answers again");
			}
			return begun;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (this.outage.begin()) {
				logger.warn("The database does not answer; until it does, requests under Guarantee.TRANSACTION are "
						+ "refused with 503", ex);
			}
			throw ex;
		}
	}

	/**
	 * Looks up the committed record of a key that is pending in front, if its owner seems
	 * to have died: a living one renews its lease long before half of it is gone.
	 * @return what is on record, or the given outcome if that is nothing or unknown
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
	 * Finds out how a transaction ended whose commit has failed. That is no proof of a
	 * rollback: the reply may be lost, or something after the commit has failed.
	 * @param failure what the commit has thrown; failed inquiries are added to it
	 * @return what is on record
	 * @throws WorkRolledBackException if the transaction was rolled back
	 * @throws IdempotencyStoreUnavailableException if the outcome is unknown
	 */
	Claim.Completed inquire(ClaimRequest request, Throwable failure) {
		return claimOnceMore(request, failure).fold((acquired) -> {
			throw new WorkRolledBackException(failure);
		}, (pending) -> {
			throw new IdempotencyStoreUnavailableException(
					"The database does not say whether the transaction of key " + request.key() + " was committed",
					failure);
		}, (completed) -> completed, (mismatched) -> {
			throw new WorkRolledBackException(failure);
		});
	}

	/**
	 * Claims the key once more: the claim waits for a commit that is still under way, so
	 * a record that it does not meet will never come. A database that has crashed leaves
	 * a pool of dead connections, so what fails at once is tried again.
	 */
	private Claim claimOnceMore(ClaimRequest request, Throwable failure) {
		long start = System.nanoTime();
		for (int i = 0; i < INQUIRIES && System.nanoTime() - start < INQUIRY_NANOS; i++) {
			try {
				Transaction begun = beginUnguarded(request, false);
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

	private Transaction beginUnguarded(ClaimRequest request, boolean contended) {
		return this.transactions.begin(request.key(), request.fingerprint(), request.token(), request.lease(),
				contended);
	}

}
