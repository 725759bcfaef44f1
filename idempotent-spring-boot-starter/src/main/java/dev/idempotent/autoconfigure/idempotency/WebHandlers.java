package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;

/**
 * Identifies annotated methods that the servlet filter handles.
 */
@FunctionalInterface
interface WebHandlers {

	boolean include(Class<?> type, Method method);

}
