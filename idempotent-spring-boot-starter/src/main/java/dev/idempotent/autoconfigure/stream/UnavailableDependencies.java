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
 * Redelivers entries whose failure is temporary and not their own: their key is pending
 * elsewhere, or a store or database is unreachable.
 */
final class UnavailableDependencies implements RedeliveryPolicy {

	private static final Duration WHILE_UNAVAILABLE = Duration.ofSeconds(5);

	@Override
	public @Nullable Duration redeliveryDelay(Throwable failure) {
		if (failure instanceof IdempotencyPendingException pending) {
			return pending.getRetryAfter();
		}
		boolean unavailable = failure instanceof IdempotencyStoreUnavailableException
				|| failure instanceof DataAccessResourceFailureException
				|| failure instanceof CannotCreateTransactionException;
		return unavailable ? WHILE_UNAVAILABLE : null;
	}

	/**
	 * A key that was used for another operation never becomes valid for this one.
	 */
	@Override
	public boolean isFatal(Throwable failure) {
		return failure instanceof IdempotencyMismatchException;
	}

}
