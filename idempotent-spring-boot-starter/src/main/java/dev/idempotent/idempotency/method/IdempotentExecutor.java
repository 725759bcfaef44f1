package dev.idempotent.idempotency.method;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
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
	 * Creates the runs.
	 * @param guard keeps the keys
	 * @param waitTimeout how long a duplicate is held where it waits
	 */
	IdempotentExecutor(IdempotencyGuard guard, Duration waitTimeout) {
		this.guard = guard;
		this.waitTimeout = waitTimeout;
	}

	@Nullable Object run(Operation operation, IdempotencyKey key, Fingerprint fingerprint, Work work) throws Throwable {
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

	private @Nullable Object runOrReplay(Operation operation, IdempotencyKey key, Fingerprint fingerprint, Work work)
			throws Throwable {
		ClaimSynchronization.Run earlier = ClaimSynchronization.finished(key);
		if (earlier != null && earlier.result() != null) {
			if (fingerprint.contradicts(earlier.fingerprint())) {
				throw new IdempotencyMismatchException(key);
			}
			return replay(operation, earlier.result());
		}
		MethodRun claimed = claimed(operation, key, fingerprint);
		Claim claim = claimed.claim(operation.terms().waits() ? this.waitTimeout : null);
		return claim.<@Nullable Object, Throwable>fold((acquired) -> run(operation, claimed, work), (pending) -> {
			throw new IdempotencyPendingException(key, pending.remainingLease());
		}, (completed) -> replay(operation, completed.response()), (mismatched) -> {
			throw new IdempotencyMismatchException(key);
		});
	}

	private MethodRun claimed(Operation operation, IdempotencyKey key, Fingerprint fingerprint) {
		Duration lease = operation.terms().lease();
		Duration retention = operation.terms().retention();
		return (operation.transactions() == null)
				? new LeaseMethodRun(key, fingerprint, this.guard.claimant(key, fingerprint, lease, retention))
				: new TransactionalMethodRun(key, fingerprint,
						this.guard.claimant(key, fingerprint, lease, retention, operation.transactions()));
	}

	private static @Nullable Object run(Operation operation, MethodRun claimed, Work work) throws Throwable {
		boolean ended = false;
		try {
			claimed.enter(operation.participation());
			Object result = claimed.proceed(work);
			if (operation.asynchronous() && result instanceof CompletionStage<?> stage) {
				ended = true;
				return stage.whenComplete((value, failure) -> end(operation, claimed, value, failure));
			}
			claimed.finish(encode(operation, claimed, result));
			ended = true;
			return result;
		}
		finally {
			if (!ended) {
				claimed.fail();
			}
		}
	}

	private static void end(Operation operation, MethodRun claimed, @Nullable Object value,
			@Nullable Throwable failure) {
		if (failure == null) {
			claimed.finish(encode(operation, claimed, value));
		}
		else {
			claimed.fail();
		}
	}

	private static StoredResponse encode(Operation operation, MethodRun claimed, @Nullable Object result) {
		try {
			return operation.codec().encode(result);
		}
		catch (IdempotencyResultException ex) {
			return claimed.unkept(ex);
		}
	}

	private static @Nullable Object replay(Operation operation, StoredResponse stored) {
		Object result = operation.codec().decode(stored);
		return operation.asynchronous() ? CompletableFuture.completedFuture(result) : result;
	}

}
