package dev.idempotent.autoconfigure.stream;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.stream.RedeliveryPolicy;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.CannotCreateTransactionException;

/**
 * Combines the redelivery policies of an application. Unless one of them says otherwise,
 * entries are redelivered whose failure is temporary and not their own: their key is
 * pending elsewhere, or a store or database is unreachable.
 *
 * @param known in the order in which they are consulted; the first delay is used
 */
record RedeliveryPolicies(List<RedeliveryPolicy> known) implements RedeliveryPolicy {

	private static final Duration WHILE_UNAVAILABLE = Duration.ofSeconds(5);

	@Override
	public @Nullable Duration redeliveryDelay(Throwable failure) {
		return this.known.stream()
			.map((each) -> each.redeliveryDelay(failure))
			.filter(Objects::nonNull)
			.findFirst()
			.orElseGet(() -> unavailability(failure));
	}

	private static @Nullable Duration unavailability(Throwable failure) {
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
		return failure instanceof IdempotencyMismatchException
				|| this.known.stream().anyMatch((each) -> each.isFatal(failure));
	}

}
