package dev.idempotent.stream;

import org.jspecify.annotations.Nullable;

/**
 * An entry has no payload, or its payload cannot be converted to the listener's
 * parameter. Redelivery cannot fix that.
 */
final class UnreadablePayloadException extends Exception {

	UnreadablePayloadException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
