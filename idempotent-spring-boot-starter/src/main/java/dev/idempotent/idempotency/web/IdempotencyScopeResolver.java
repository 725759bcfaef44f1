package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Resolves the scope of a request's idempotency key. Equal keys in different scopes are
 * different keys, so no caller receives the response of another. Declare a bean of this
 * type to replace the default.
 */
@FunctionalInterface
public interface IdempotencyScopeResolver {

	/**
	 * Resolves the scope of a request that has passed the security filters.
	 * @param request the request
	 * @return the scope, for instance tenant and user; an empty string if the caller is
	 * unknown. Unknown callers share one scope, and must send a key: a key from the
	 * fingerprint is refused
	 */
	String resolveScope(HttpServletRequest request);

}
