package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;

/**
 * Finds out what became of a transaction whose commit has reported a failure. That is no
 * proof of a rollback: the reply may be lost, or something after the commit has failed.
 */
final class CommitInquiry {

	private static final int ATTEMPTS = 5;

	private static final long PATIENCE_NANOS = Duration.ofSeconds(1).toNanos();

	private CommitInquiry() {
	}

	/**
	 * Claims the key once more: the claim waits for a commit that is still under way, so
	 * a record that it does not meet will never come. A database that has crashed leaves
	 * a pool of dead connections, so what fails at once is tried again.
	 * @param failure what the commit has reported; learns why there is no answer
	 * @return {@link Claim.Acquired} if the transaction was rolled back,
	 * {@link Claim.Pending} if nobody can tell, or what is on record
	 */
	static Claim ask(IdempotencyTransactions transactions, ClaimRequest request, Throwable failure) {
		long start = System.nanoTime();
		for (int i = 0; i < ATTEMPTS && System.nanoTime() - start < PATIENCE_NANOS; i++) {
			try {
				return ask(transactions, request);
			}
			catch (RuntimeException ex) {
				failure.addSuppressed(ex);
			}
		}
		return new Claim.Pending(request.lease());
	}

	private static Claim ask(IdempotencyTransactions transactions, ClaimRequest request) {
		IdempotencyTransaction begun = transactions.begin(request.key(), request.fingerprint(), request.token(),
				request.lease(), false);
		Claim claim = begun.claim();
		if (claim.isAcquired()) {
			begun.rollback();
		}
		return claim;
	}

}
