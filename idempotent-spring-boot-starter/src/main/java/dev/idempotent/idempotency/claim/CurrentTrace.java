package dev.idempotent.idempotency.claim;

import org.jspecify.annotations.Nullable;

/**
 * Provides the trace context in which a key is claimed.
 */
@FunctionalInterface
public interface CurrentTrace {

	/**
	 * The trace context of the calling thread.
	 * @return its text in the format of W3C Trace Context, or {@code null} without one
	 */
	@Nullable String traceparent();

}
