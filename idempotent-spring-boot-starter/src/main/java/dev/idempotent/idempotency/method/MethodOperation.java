package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation.Kind;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.Claimant;
import dev.idempotent.idempotency.engine.IdempotencyEngine;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.RunIdentity;
import dev.idempotent.idempotency.operation.OperationSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.annotation.Propagation;

/**
 * An operation of a method or of a template, which runs work once per key, or replays its
 * result.
 *
 * @param settings the settings of the annotation or the template
 * @param kind how the work is called
 * @param codec writes and reads results
 * @param asynchronous whether the work returns a future
 * @param participation how the work participates in a transaction of its caller:
 * {@code REQUIRED} if it commits or rolls back with it, {@code NESTED} if work that fails
 * rolls back to a savepoint, {@code REQUIRES_NEW} if it commits before
 * @param transactions the transactions of {@code Guarantee.TRANSACTION}, or {@code null}
 * under a lease alone
 */
record MethodOperation(OperationSettings settings, Kind kind, ResultCodec codec, boolean asynchronous,
		Propagation participation, @Nullable IdempotencyTransactions transactions) {

	/**
	 * Describes the operation to observers.
	 */
	IdempotencyObserver.Operation observed() {
		return this.settings.observed(this.kind);
	}

	/**
	 * Runs work under a key, or replays its result.
	 * @param shared the settings of all operations
	 */
	@Nullable Object run(MethodSettings shared, IdempotencyKey key, Fingerprint fingerprint, Work work) throws Throwable {
		return run(shared, RunIdentity.of(key, fingerprint, this.settings.retention()), work);
	}

	/**
	 * Runs work with an identity, or replays its result.
	 * @param shared the settings of all operations
	 */
	@Nullable Object run(MethodSettings shared, RunIdentity identity, Work work) throws Throwable {
		if (!this.asynchronous) {
			return runOrReplay(shared, identity, work);
		}
		try {
			return runOrReplay(shared, identity, work);
		}
		catch (IdempotencyPendingException | IdempotencyMismatchException | IdempotencyResultException
				| IdempotencyStoreException ex) {
			Object refused = CompletableFuture.failedFuture(ex);
			return refused;
		}
	}

	private @Nullable Object runOrReplay(MethodSettings shared, RunIdentity identity, Work work) throws Throwable {
		IdempotencyKey key = identity.key();
		MethodRun earlier = MethodRun.findCompleted(key);
		if (earlier != null && earlier.result() != null) {
			if (identity.fingerprint().contradicts(earlier.fingerprint())) {
				shared.engine().decided(observed(), key, Outcome.MISMATCHED, Duration.ZERO);
				throw new IdempotencyMismatchException(key);
			}
			shared.engine().decided(observed(), key, Outcome.REPLAYED, Duration.ZERO);
			return replay(earlier.result());
		}
		MethodRun run = new MethodRun(key, identity.fingerprint(), claimant(shared.engine(), identity));
		Claim claim = run.claim(this.settings.waits() ? shared.waitTimeout() : null);
		if (claim.isAcquired()) {
			return run(run, work);
		}
		if (claim instanceof Claim.Completed completed) {
			return replay(completed.response());
		}
		if (claim instanceof Claim.Pending pending) {
			throw new IdempotencyPendingException(key, pending.remainingLease());
		}
		throw new IdempotencyMismatchException(key,
				(claim instanceof Claim.Mismatched mismatched) ? mismatched.remainingLease() : null);
	}

	private Claimant claimant(IdempotencyEngine engine, RunIdentity identity) {
		Duration lease = this.settings.lease();
		return (this.transactions == null) ? engine.claimant(observed(), identity, lease)
				: engine.claimant(observed(), identity, lease, this.transactions);
	}

	private @Nullable Object run(MethodRun run, Work work) throws Throwable {
		boolean settled = false;
		try {
			run.join(this.participation);
			Object result = proceed(run, work);
			if (this.asynchronous && result instanceof CompletionStage<?> stage) {
				settled = true;
				run.waitForFuture();
				CompletionStage<?> settling = stage.whenComplete((value, failure) -> settle(run, value, failure));
				// If the caller cancels it or lets it time out, the run must still be
				// settled.
				return (settling instanceof CompletableFuture<?> future) ? future.copy() : settling;
			}
			run.flushWork();
			complete(run, encode(run, result), work);
			settled = true;
			return result;
		}
		finally {
			if (!settled) {
				run.release();
			}
		}
	}

	private static void complete(MethodRun run, StoredResponse stored, Work work) {
		try {
			run.complete(stored);
		}
		catch (RuntimeException | Error ex) {
			if (run.isInDoubt()) {
				work.inDoubt();
			}
			throw ex;
		}
	}

	private static @Nullable Object proceed(MethodRun run, Work work) throws Throwable {
		IdempotencyContext outer = IdempotencyContext.bind(run.context());
		try {
			return work.proceed();
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	private void settle(MethodRun run, @Nullable Object value, @Nullable Throwable failure) {
		StoredResponse result = null;
		try {
			result = (failure == null) ? encode(run, value) : null;
		}
		finally {
			run.futureCompleted(result);
		}
	}

	private StoredResponse encode(MethodRun run, @Nullable Object result) {
		try {
			return this.codec.encode(result);
		}
		catch (IdempotencyResultException ex) {
			return run.replaceUnwritable(ex, this.codec.isFirstFailure());
		}
	}

	private @Nullable Object replay(StoredResponse stored) {
		Object result = this.codec.decode(stored);
		return this.asynchronous ? CompletableFuture.completedFuture(result) : result;
	}

	/**
	 * Work that runs once per key.
	 */
	@FunctionalInterface
	interface Work {

		@Nullable Object proceed() throws Throwable;

		/**
		 * Called before a failure of the commit is thrown of which it is not known
		 * whether the work was committed.
		 */
		default void inDoubt() {
		}

	}

}
