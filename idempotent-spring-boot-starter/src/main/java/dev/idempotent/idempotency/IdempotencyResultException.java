package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A result cannot be replayed: it was not kept, or no longer fits the type that is asked
 * for. The work was done, and is not done again.
 */
public class IdempotencyResultException extends RuntimeException {

	public IdempotencyResultException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
