package dev.idempotent.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Tells whose idempotency keys a request's keys are. Equal keys of different scopes never
 * meet, so no caller is answered with the response of another. Declare a bean of this
 * type to replace the default.
 */
@FunctionalInterface
public interface IdempotencyScopeResolver {

	/**
	 * Resolves the scope of a request that has passed the security filters.
	 * @param request the request
	 * @return the scope, for instance tenant and user; an empty string if the caller is
	 * not known, who then shares the keys of all such callers and must send them: a key
	 * from the fingerprint is refused
	 */
	String resolveScope(HttpServletRequest request);

}
