package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyGuard;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * Runs work under a key, or replays its result.
 */
final class IdempotentRuns {

	private final IdempotencyGuard guard;

	private final Duration waitTimeout;

	/**
	 * Creates the runs.
	 * @param guard keeps the keys
	 * @param waitTimeout how long a duplicate is held where it waits
	 */
	IdempotentRuns(IdempotencyGuard guard, Duration waitTimeout) {
		this.guard = guard;
		this.waitTimeout = waitTimeout;
	}

	@Nullable Object run(Operation operation, IdempotencyKey key, Fingerprint fingerprint, Work work) throws Throwable {
		Bid bid = new Bid(operation, key, fingerprint);
		if (!operation.asynchronous()) {
			return bid.runOrReplay(work);
		}
		try {
			return bid.runOrReplay(work);
		}
		catch (IdempotencyPendingException | IdempotencyMismatchException | IdempotencyResultException
				| IdempotencyStoreException ex) {
			Object refused = CompletableFuture.failedFuture(ex);
			return refused;
		}
	}

	private final class Bid {

		private final Operation operation;

		private final IdempotencyKey key;

		private final Fingerprint fingerprint;

		private Bid(Operation operation, IdempotencyKey key, Fingerprint fingerprint) {
			this.operation = operation;
			this.key = key;
			this.fingerprint = fingerprint;
		}

		private @Nullable Object runOrReplay(Work work) throws Throwable {
			TransactionEnd.Run finished = TransactionEnd.finished(this.key);
			if (finished != null && finished.result() != null) {
				return replay(this.fingerprint.contradicts(finished.fingerprint()) ? new Claim.Mismatched()
						: new Claim.Completed(finished.result(), this.operation.terms().retention()));
			}
			Claimed claimed = claimed();
			Claim claim = this.operation.terms().waits() ? claimed.claimOrWait(IdempotentRuns.this.waitTimeout)
					: claimed.claim();
			return (claim instanceof Claim.Acquired) ? run(claimed, work) : replay(claim);
		}

		private Claimed claimed() {
			Duration lease = this.operation.terms().lease();
			Duration retention = this.operation.terms().retention();
			return (this.operation.transactions() == null)
					? new ClaimedByLease(
							IdempotentRuns.this.guard.claimant(this.key, this.fingerprint, lease, retention))
					: new ClaimedInTransaction(IdempotentRuns.this.guard.joiningClaimant(this.key, this.fingerprint,
							lease, retention, this.operation.transactions()));
		}

		private @Nullable Object run(Claimed claimed, Work work) throws Throwable {
			boolean done = false;
			try {
				claimed.enter(this.key, this.fingerprint, this.operation.asynchronous());
				Object result = claimed.proceed(work);
				if (this.operation.asynchronous() && result instanceof CompletionStage<?> stage) {
					done = true;
					return stage.whenComplete((value, failure) -> settle(claimed, value, failure));
				}
				claimed.finish(encode(claimed, result));
				done = true;
				return result;
			}
			finally {
				if (!done) {
					claimed.fail();
				}
			}
		}

		private void settle(Claimed claimed, @Nullable Object value, @Nullable Throwable failure) {
			if (failure == null) {
				claimed.finish(encode(claimed, value));
			}
			else {
				claimed.fail();
			}
		}

		/**
		 * Work that cannot be undone has been done, though nobody will see its result
		 * again.
		 */
		private StoredResponse encode(Claimed claimed, @Nullable Object result) {
			try {
				return this.operation.codec().encode(result);
			}
			catch (IdempotencyResultException ex) {
				return claimed.unkept(this.key, ex);
			}
		}

		private @Nullable Object replay(Claim claim) {
			if (claim instanceof Claim.Completed completed) {
				Object result = this.operation.codec().decode(completed.response());
				return this.operation.asynchronous() ? CompletableFuture.completedFuture(result) : result;
			}
			if (claim instanceof Claim.Pending pending) {
				throw new IdempotencyPendingException(this.key, pending.remainingLease());
			}
			throw new IdempotencyMismatchException(this.key);
		}

	}

}
