package dev.idempotent.idempotency.propagation;

import dev.idempotent.idempotency.IdempotencyContext;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Propagates the {@link IdempotencyContext} of a thread, including the key's digest in
 * the logging context. Micrometer's registry discovers it without configuration.
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
