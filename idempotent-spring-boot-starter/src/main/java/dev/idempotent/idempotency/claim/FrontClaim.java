package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * A claim in the store in front of a database, and the reservation of the key in this
 * process, which sends one claim of a key to the database at a time.
 */
final class FrontClaim {

	private final IdempotencyKey key;

	private final StoreClaim claim;

	private final RunningClaims running;

	private boolean reserved;

	private boolean provisional;

	FrontClaim(IdempotencyKey key, StoreClaim claim, RunningClaims running) {
		this.key = key;
		this.claim = claim;
		this.running = running;
	}

	/**
	 * Claims the key in the store.
	 */
	Claim claim() {
		return this.claim.claim();
	}

	/**
	 * Reserves the key in this process.
	 * @return {@code false} if another claimant has reserved it; the key in the store is
	 * then released
	 */
	boolean reserve() {
		this.reserved = this.running.reserve(this.key);
		if (!this.reserved) {
			this.claim.release();
		}
		return this.reserved;
	}

	/**
	 * Reserves the key for the database alone, although the store has a response. That is
	 * removed when the work is done again.
	 * @return {@code false} if another claimant of this process has reserved the key
	 */
	boolean reserveWithoutStore() {
		this.reserved = this.running.reserve(this.key);
		if (this.reserved) {
			this.claim.skipStore();
		}
		return this.reserved;
	}

	/**
	 * Returns whether the store refuses duplicates.
	 */
	boolean isGrantedByStore() {
		return this.claim.isGrantedByStore();
	}

	/**
	 * Sets whether a test may still roll back what the transaction commits.
	 */
	void setProvisional(boolean provisional) {
		this.provisional = provisional;
	}

	/**
	 * Completes the key in the store, or releases it if the transaction is provisional:
	 * then the next claim queries the database.
	 * @param epoch the epoch in which the database has committed the response, or
	 * {@code null} if it is not known
	 */
	void complete(StoredResponse response, @Nullable String epoch, Duration retention) {
		if (this.provisional) {
			this.claim.release();
		}
		else {
			this.claim.complete(ResponseEnvelope.committed(response, epoch), retention);
		}
		endReservation();
	}

	void release() {
		this.claim.release();
		endReservation();
	}

	void stopRenewal() {
		this.claim.stopRenewal();
		endReservation();
	}

	private void endReservation() {
		if (this.reserved) {
			this.reserved = false;
			this.running.free(this.key);
		}
	}

}
