package dev.idempotent.idempotency.engine;

import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

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

	/**
	 * The trace context of the calling thread. A tracer that fails does not affect the
	 * work.
	 * @return its text, or {@code null}
	 */
	default @Nullable String traceparentIfAvailable() {
		try {
			return traceparent();
		}
		catch (RuntimeException | Error ex) {
			LoggerFactory.getLogger(CurrentTrace.class).debug("The trace context of a claim could not be read", ex);
			return null;
		}
	}

}
