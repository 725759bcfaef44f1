package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;

/**
 * Tells which annotated methods the filter takes care of.
 */
@FunctionalInterface
interface WebHandlers {

	boolean include(Class<?> type, Method method);

}
