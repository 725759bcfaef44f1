package dev.idempotent.idempotency.method;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.Claimant;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a key for work that then ends in {@link #finish} or {@link #fail}.
 */
abstract class MethodRun implements ClaimSynchronization.Settlement {

	private final IdempotencyKey key;

	private final Fingerprint fingerprint;

	private final Claimant claimant;

	private ClaimSynchronization.@Nullable Run joined;

	private boolean undoneByFailure;

	MethodRun(IdempotencyKey key, Fingerprint fingerprint, Claimant claimant) {
		this.key = key;
		this.fingerprint = fingerprint;
		this.claimant = claimant;
	}

	/**
	 * Claims the key.
	 * @param patience how long to wait for another run, or {@code null} not to
	 */
	Claim claim(@Nullable Duration patience) {
		return (patience != null) ? this.claimant.claimOrWait(patience) : this.claimant.claim();
	}

	/**
	 * Takes part in the transaction that is open, if the work does.
	 */
	void enter(Participation participation) {
		this.undoneByFailure = participation == Participation.NESTS;
		this.joined = (participation == Participation.APART) ? null
				: ClaimSynchronization.enter(this.key, this.fingerprint, this);
	}

	boolean isJoined() {
		return this.joined != null;
	}

	@Nullable Object proceed(Work work) throws Throwable {
		IdempotencyContext outer = IdempotencyContext.bind(this.claimant.context());
		try {
			return work.proceed();
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	/**
	 * Keeps a result for when the work is sure to stay.
	 */
	void finish(StoredResponse result) {
		if (this.joined != null) {
			this.joined.finish(result);
		}
		else {
			committed(result);
		}
	}

	void fail() {
		if (this.joined == null) {
			rolledBack();
		}
		else if (this.undoneByFailure) {
			this.joined.undo();
		}
	}

	/**
	 * What is kept of a result that cannot be written.
	 * @throws IdempotencyResultException if the work can be undone instead
	 */
	abstract StoredResponse unkept(IdempotencyResultException failure);

	IdempotencyKey key() {
		return this.key;
	}

}
