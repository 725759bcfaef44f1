package dev.idempotent.stream;

import org.jspecify.annotations.Nullable;

/**
 * An entry has no payload, or one that cannot be read as what the listener takes. It will
 * not become readable by being brought again.
 */
final class UnreadablePayloadException extends Exception {

	UnreadablePayloadException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
