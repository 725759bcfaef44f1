package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyGuard;
import org.jspecify.annotations.Nullable;

/**
 * Runs work under a key, or replays its result.
 */
final class IdempotentExecutor {

	private final IdempotencyGuard guard;

	private final Duration waitTimeout;

	/**
	 * Creates an executor.
	 * @param guard claims the keys
	 * @param waitTimeout how long a duplicate waits under {@code OnPending.WAIT}
	 */
	IdempotentExecutor(IdempotencyGuard guard, Duration waitTimeout) {
		this.guard = guard;
		this.waitTimeout = waitTimeout;
	}

	@Nullable Object run(MethodOperation operation, IdempotencyKey key, Fingerprint fingerprint, Work work) throws Throwable {
		if (!operation.asynchronous()) {
			return runOrReplay(operation, key, fingerprint, work);
		}
		try {
			return runOrReplay(operation, key, fingerprint, work);
		}
		catch (IdempotencyPendingException | IdempotencyMismatchException | IdempotencyResultException
				| IdempotencyStoreException ex) {
			Object refused = CompletableFuture.failedFuture(ex);
			return refused;
		}
	}

	private @Nullable Object runOrReplay(MethodOperation operation, IdempotencyKey key, Fingerprint fingerprint,
			Work work) throws Throwable {
		ClaimSynchronization.Run earlier = ClaimSynchronization.findCompleted(key);
		if (earlier != null && earlier.result() != null) {
			if (fingerprint.contradicts(earlier.fingerprint())) {
				this.guard.decided(operation.observed(), key, Outcome.MISMATCHED, Duration.ZERO);
				throw new IdempotencyMismatchException(key);
			}
			this.guard.decided(operation.observed(), key, Outcome.REPLAYED, Duration.ZERO);
			return replay(operation, earlier.result());
		}
		MethodRun run = runOf(operation, key, fingerprint);
		Claim claim = run.claim(operation.settings().waits() ? this.waitTimeout : null);
		return claim.<@Nullable Object, Throwable>fold((acquired) -> run(operation, run, work), (pending) -> {
			throw new IdempotencyPendingException(key, pending.remainingLease());
		}, (completed) -> replay(operation, completed.response()), (mismatched) -> {
			throw new IdempotencyMismatchException(key);
		});
	}

	private MethodRun runOf(MethodOperation operation, IdempotencyKey key, Fingerprint fingerprint) {
		Duration lease = operation.settings().lease();
		Duration retention = operation.settings().retention();
		return (operation.transactions() == null)
				? new MethodRun(key, fingerprint,
						this.guard.claimant(operation.observed(), key, fingerprint, lease, retention))
				: new MethodRun.InTransaction(key, fingerprint, this.guard.claimant(operation.observed(), key,
						fingerprint, lease, retention, operation.transactions()));
	}

	private static @Nullable Object run(MethodOperation operation, MethodRun run, Work work) throws Throwable {
		boolean settled = false;
		try {
			run.join(operation.participation());
			Object result = proceed(run, work);
			if (operation.asynchronous() && result instanceof CompletionStage<?> stage) {
				settled = true;
				return stage.whenComplete((value, failure) -> settle(operation, run, value, failure));
			}
			run.complete(encode(operation, run, result));
			settled = true;
			return result;
		}
		finally {
			if (!settled) {
				run.release();
			}
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

	private static void settle(MethodOperation operation, MethodRun run, @Nullable Object value,
			@Nullable Throwable failure) {
		if (failure == null) {
			run.complete(encode(operation, run, value));
		}
		else {
			run.release();
		}
	}

	private static StoredResponse encode(MethodOperation operation, MethodRun run, @Nullable Object result) {
		try {
			return operation.codec().encode(result);
		}
		catch (IdempotencyResultException ex) {
			return run.replaceUnwritable(ex);
		}
	}

	private static @Nullable Object replay(MethodOperation operation, StoredResponse stored) {
		Object result = operation.codec().decode(stored);
		return operation.asynchronous() ? CompletableFuture.completedFuture(result) : result;
	}

	/**
	 * Work that runs once per key.
	 */
	@FunctionalInterface
	interface Work {

		@Nullable Object proceed() throws Throwable;

	}

}
