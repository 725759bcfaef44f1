package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;

/**
 * A request for a key whose record commits with a transaction that its caller may have
 * begun, and that may end long after the work. Belongs to one thread: the one that the
 * transaction is bound to.
 */
public final class JoiningClaimant implements Claimant {

	private final DatabaseClaimant claimant;

	JoiningClaimant(DatabaseClaimant claimant) {
		this.claimant = claimant;
	}

	/**
	 * Claims the key in front, then in the transaction of the caller, or in a new one.
	 * @return the outcome; {@link Claim.Acquired} leaves a transaction open and bound to
	 * this thread, and asks for one of {@link #complete} and {@link #abandon}, and for
	 * one of {@link #committed} and {@link #release} when it has ended
	 * @throws IdempotencyStoreUnavailableException if the database is unreachable
	 * @throws IdempotencyStoreException if the key cannot be used
	 */
	@Override
	public Claim claim() {
		return this.claimant.claim();
	}

	@Override
	public Claim claimOrWait(Duration patience) {
		return this.claimant.claimOrWait(patience);
	}

	@Override
	public IdempotencyContext context() {
		return this.claimant.request().context();
	}

	/**
	 * Writes the answer into the transaction, and commits it if this claimant began it.
	 * @param response the answer
	 * @throws RuntimeException if that fails: nothing of the work will be committed, or
	 * nobody can tell, which a retry then finds out
	 */
	public void complete(StoredResponse response) {
		this.claimant.close().commit(response, this.claimant.request().retention());
	}

	/**
	 * Lets the transaction be rolled back, whoever ends it.
	 */
	public void abandon() {
		if (this.claimant.isOpen()) {
			this.claimant.close().rollback();
		}
	}

	/**
	 * Frees duplicates to be answered: the transaction was committed.
	 * @param response the answer in it
	 */
	public void committed(StoredResponse response) {
		this.claimant.completeInFront(response);
		this.claimant.endDeciding();
	}

	/**
	 * Frees the key in front: the transaction was rolled back, or nobody knows how it has
	 * ended, which the next claimant learns from the database.
	 */
	public void release() {
		this.claimant.release();
	}

}
