package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A store could not do its work for a key. Nothing is known to have run or to be kept, so
 * the request is refused.
 */
public class IdempotencyStoreException extends RuntimeException {

	public IdempotencyStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
