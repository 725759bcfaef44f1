package dev.idempotent.idempotency.method;

import org.jspecify.annotations.Nullable;

/**
 * What runs once per key.
 */
interface Work {

	@Nullable Object proceed() throws Throwable;

}
