package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a result cannot be replayed: it was not stored, or no longer matches the
 * expected type. The work was done and is not run again.
 */
public class IdempotencyResultException extends RuntimeException {

	public IdempotencyResultException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
