package dev.idempotent.idempotency.security;

import java.security.Principal;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Finds the authenticated caller of the current thread. An application's own filter may
 * set the security context without wrapping the request, which then has no principal.
 */
public final class AuthenticatedPrincipal implements Supplier<@Nullable Principal> {

	@Override
	public @Nullable Principal get() {
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication == null || authentication instanceof AnonymousAuthenticationToken
				|| !authentication.isAuthenticated()) ? null : authentication;
	}

}
