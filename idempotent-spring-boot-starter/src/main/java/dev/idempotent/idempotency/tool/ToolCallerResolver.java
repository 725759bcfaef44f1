package dev.idempotent.idempotency.tool;

import org.jspecify.annotations.Nullable;

/**
 * Resolves the caller of a tool, to whom the key of the call belongs. No caller gets the
 * result of another one. Declare a bean of this type to replace the default: the scope of
 * the current HTTP request; in an application that serves no requests, the principal of
 * Spring Security.
 */
@FunctionalInterface
public interface ToolCallerResolver {

	/**
	 * Resolves the caller, on the thread that calls the tool's method. If the stream of a
	 * {@code ChatClient} calls it, the thread that subscribes is asked first, and the
	 * thread of the tool if the caller is unknown there.
	 * <p>
	 * The caller of a resolver of the application is the whole identity: the host of a
	 * request does not tell its callers apart.
	 * @return the caller, for instance tenant and user, and the same after a new
	 * connection; {@code null} or an empty string if it is unknown: the call is refused
	 * then, unless there is a single caller, or the call has a conversation and its
	 * request, if the application serves any, is known
	 */
	@Nullable String resolveCaller();

}
