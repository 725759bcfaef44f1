package dev.idempotent.idempotency.tool;

import org.jspecify.annotations.Nullable;

/**
 * Resolves the caller of a tool, to whom the key of the call belongs. No caller gets the
 * result of another one. Declare a bean of this type to replace the default: the scope of
 * the current HTTP request; without a request the principal of Spring Security, unless
 * the application has an {@code IdempotencyScopeResolver} of its own.
 */
@FunctionalInterface
public interface ToolCallerResolver {

	/**
	 * Resolves the caller, on the thread that calls the tool's method, or that subscribes
	 * to the stream of a {@code ChatClient} which calls it. It is the whole identity: the
	 * host of a request does not tell the callers of an own resolver apart.
	 * @return the caller, for instance tenant and user, and the same after a new
	 * connection; {@code null} or an empty string if it is unknown: the call is refused
	 * then, unless there is a single caller, or it has a conversation and is made where a
	 * caller would be known
	 */
	@Nullable String resolveCaller();

}
