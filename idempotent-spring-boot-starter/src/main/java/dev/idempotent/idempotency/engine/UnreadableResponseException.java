package dev.idempotent.idempotency.engine;

import dev.idempotent.idempotency.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a stored response is there and no repetition will read it: it is damaged,
 * was changed, or is not encrypted although it must be.
 */
public final class UnreadableResponseException extends IdempotencyStoreException {

	UnreadableResponseException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
