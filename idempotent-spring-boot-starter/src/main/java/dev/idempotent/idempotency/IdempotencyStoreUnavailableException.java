package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a store is unreachable or does not answer in time: the operation may or may
 * not have been carried out.
 */
public class IdempotencyStoreUnavailableException extends IdempotencyStoreException {

	public IdempotencyStoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
