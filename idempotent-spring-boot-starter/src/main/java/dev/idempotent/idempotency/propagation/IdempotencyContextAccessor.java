package dev.idempotent.idempotency.propagation;

import dev.idempotent.idempotency.IdempotencyContext;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Carries the {@link IdempotencyContext} of a thread, and with it the digest in the
 * logging context, wherever the application propagates its contexts. Found by
 * Micrometer's registry without configuration.
 */
public final class IdempotencyContextAccessor implements ThreadLocalAccessor<IdempotencyContext> {

	/**
	 * The name of the context in snapshots, and in the context of a reactive pipeline.
	 */
	public static final String KEY = "dev.idempotent.context";

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable IdempotencyContext getValue() {
		return IdempotencyContext.current();
	}

	@Override
	public void setValue(IdempotencyContext context) {
		IdempotencyContext.bind(context);
	}

	@Override
	public void setValue() {
		IdempotencyContext.bind(null);
	}

}
