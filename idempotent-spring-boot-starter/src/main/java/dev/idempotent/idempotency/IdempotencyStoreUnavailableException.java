package dev.idempotent.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A store could not be reached, or did not answer in time: the verb may or may not have
 * been carried out.
 */
public class IdempotencyStoreUnavailableException extends IdempotencyStoreException {

	public IdempotencyStoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
