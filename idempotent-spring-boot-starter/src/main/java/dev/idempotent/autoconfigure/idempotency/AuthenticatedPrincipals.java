package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;

import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AbstractAuthenticationToken;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.AuthenticatedPrincipal;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.util.ClassUtils;

/**
 * Callers as Spring Security knows them, if the application has it. Equal names from two
 * issuers are two callers.
 */
final class AuthenticatedPrincipals {

	private static final boolean withSecurity = isPresent(
			"org.springframework.security.core.context.SecurityContextHolder");

	private static final boolean withTokens = isPresent("org.springframework.security.oauth2.core.ClaimAccessor");

	private static final boolean withLogins = isPresent(
			"org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken");

	private AuthenticatedPrincipals() {
	}

	/**
	 * Finds the authenticated caller of the current thread. The request may lack it: an
	 * application's own filter may set the security context without wrapping the request.
	 * @return {@code null} for an anonymous caller
	 */
	static @Nullable Principal current() {
		if (!withSecurity) {
			return null;
		}
		Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
		return (authentication == null || authentication instanceof AnonymousAuthenticationToken
				|| !authentication.isAuthenticated()) ? null : authentication;
	}

	/**
	 * Returns whether a principal stands for any caller who has not logged in.
	 * @param principal any
	 * @return {@code true} for Spring Security's anonymous authentication
	 */
	static boolean isAnonymous(Principal principal) {
		return withSecurity && principal instanceof AnonymousAuthenticationToken;
	}

	/**
	 * Finds the authority that a principal's name comes from: the registration of an
	 * OAuth 2.0 login, or the issuer of a token.
	 * @param principal any
	 * @return {@code null} if it names none
	 * @throws IllegalArgumentException if the name is merely the {@code toString()} of an
	 * object
	 */
	static @Nullable String issuerOf(Principal principal) {
		if (withSecurity && principal instanceof AbstractAuthenticationToken token) {
			requireName(token);
		}
		if (withLogins && Logins.isLogin(principal)) {
			return Logins.registration(principal);
		}
		return (withTokens && principal instanceof Authentication authentication)
				? Tokens.issuer(authentication.getPrincipal()) : null;
	}

	/**
	 * The text of an object may differ between attempts, or not between callers.
	 */
	private static void requireName(AbstractAuthenticationToken token) {
		Object principal = token.getPrincipal();
		if (principal != null && !isNamed(principal) && ClassUtils.getMethod(token.getClass(), "getName")
			.getDeclaringClass() == AbstractAuthenticationToken.class) {
			throw new IllegalArgumentException("Its name is the toString() of " + principal.getClass().getName()
					+ ": let that class implement Principal, AuthenticatedPrincipal or UserDetails, or declare a bean of "
					+ "type IdempotencyScopeResolver.");
		}
	}

	private static boolean isNamed(Object principal) {
		return principal instanceof Principal || principal instanceof UserDetails
				|| principal instanceof AuthenticatedPrincipal || ClassUtils.isSimpleValueType(principal.getClass());
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, AuthenticatedPrincipals.class.getClassLoader());
	}

	/**
	 * Loaded only if its Spring Security class is present.
	 */
	private static final class Logins {

		static boolean isLogin(Principal principal) {
			return principal instanceof OAuth2AuthenticationToken;
		}

		static String registration(Principal principal) {
			return ((OAuth2AuthenticationToken) principal).getAuthorizedClientRegistrationId();
		}

	}

	/**
	 * Loaded only if its Spring Security classes are present.
	 */
	private static final class Tokens {

		private static final String ISSUER = "iss";

		static @Nullable String issuer(@Nullable Object principal) {
			if (principal instanceof ClaimAccessor claims) {
				return claims.getClaimAsString(ISSUER);
			}
			Object issuer = (principal instanceof OAuth2AuthenticatedPrincipal token) ? token.getAttribute(ISSUER)
					: null;
			return (issuer != null) ? issuer.toString() : null;
		}

	}

}
