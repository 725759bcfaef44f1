package dev.idempotent.autoconfigure.stream;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.stream.RedeliveryPolicy;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.CannotCreateTransactionException;

/**
 * Failures that no entry can help: the same work is being done elsewhere, or what it
 * needs is away. The inbox itself knows neither keys nor databases.
 */
final class UnavailableDependencies implements RedeliveryPolicy {

	private static final Duration WHILE_AWAY = Duration.ofSeconds(5);

	@Override
	public @Nullable Duration after(Throwable failure) {
		if (failure instanceof IdempotencyPendingException pending) {
			return pending.getRetryAfter();
		}
		boolean away = failure instanceof IdempotencyStoreUnavailableException
				|| failure instanceof DataAccessResourceFailureException
				|| failure instanceof CannotCreateTransactionException;
		return away ? WHILE_AWAY : null;
	}

	/**
	 * A key that was used for something else stays so.
	 */
	@Override
	public boolean isHopeless(Throwable failure) {
		return failure instanceof IdempotencyMismatchException;
	}

}
