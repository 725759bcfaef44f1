package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a store is unreachable or does not respond in time: the operation may or
 * may not have been executed.
 */
public class IdempotencyStoreUnavailableException extends IdempotencyStoreException {

	public IdempotencyStoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
