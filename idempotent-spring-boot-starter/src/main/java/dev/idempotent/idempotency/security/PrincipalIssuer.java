package dev.idempotent.idempotency.security;

import java.security.Principal;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.OAuth2AuthenticatedPrincipal;
import org.springframework.util.ClassUtils;

/**
 * Finds who vouches for the name of a principal: the registration of an OAuth 2.0 login,
 * or the issuer of a token. Equal names of two issuers are two people.
 */
public final class PrincipalIssuer implements Function<Principal, @Nullable String> {

	private static final boolean withTokens = isPresent("org.springframework.security.oauth2.core.ClaimAccessor");

	private static final boolean withLogins = isPresent(
			"org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken");

	@Override
	public @Nullable String apply(Principal principal) {
		if (withLogins && Logins.isOne(principal)) {
			return Logins.registration(principal);
		}
		return (withTokens && principal instanceof Authentication authentication)
				? Tokens.issuer(authentication.getPrincipal()) : null;
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, PrincipalIssuer.class.getClassLoader());
	}

	/**
	 * A class of its own, as that of Spring Security may be missing.
	 */
	private static final class Logins {

		static boolean isOne(Principal principal) {
			return principal instanceof OAuth2AuthenticationToken;
		}

		static String registration(Principal principal) {
			return ((OAuth2AuthenticationToken) principal).getAuthorizedClientRegistrationId();
		}

	}

	/**
	 * A class of its own, as those of Spring Security may be missing.
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
