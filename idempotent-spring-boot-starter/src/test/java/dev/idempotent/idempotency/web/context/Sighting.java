package dev.idempotent.idempotency.web.context;

import dev.idempotent.idempotency.IdempotencyContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The context bound to a thread.
 */
record Sighting(Thread thread, @Nullable IdempotencyContext context, @Nullable String logged) {

	static Sighting here() {
		return new Sighting(Thread.currentThread(), IdempotencyContext.current(), MDC.get("idempotency"));
	}

	boolean isClean() {
		return this.context == null && this.logged == null;
	}

	/**
	 * The context, which the log names as well.
	 */
	IdempotencyContext bound() {
		if (this.context == null) {
			throw new AssertionError("No context is bound to " + this.thread);
		}
		assertThat(this.logged).isEqualTo(this.context.key().digest());
		return this.context;
	}

}
