package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a store cannot be used for a key. The request is refused before its work
 * runs.
 */
public class IdempotencyStoreException extends RuntimeException {

	public IdempotencyStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
