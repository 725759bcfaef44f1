package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a result cannot be replayed. If it belongs to an earlier call, because it
 * was not stored then or no longer matches the expected type, the work was done and is
 * not run again. If it is the result of this call, its work is rolled back under
 * {@link Guarantee#TRANSACTION}.
 */
public class IdempotencyResultException extends RuntimeException {

	public IdempotencyResultException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
