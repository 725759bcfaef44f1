package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import dev.idempotent.testing.ClassPathWithout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.DefaultOAuth2AuthenticatedPrincipal;
import org.springframework.security.oauth2.core.user.DefaultOAuth2User;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AuthenticatedPrincipals}.
 */
class AuthenticatedPrincipalsTests {

	private static final Map<String, Object> CLAIMS = Map.of("sub", "ada", "iss", "https://one.example");

	@Test
	void findsTheIssuerOfAJwt() {
		assertThat(AuthenticatedPrincipals.issuerOf(jwt(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void findsTheIssuerOfAnOpaqueToken() {
		assertThat(AuthenticatedPrincipals.issuerOf(opaqueToken(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void findsTheRegistrationOfALoginBeforeTheIssuerOfItsToken() {
		assertThat(AuthenticatedPrincipals.issuerOf(login("one"))).isEqualTo("one");
		assertThat(AuthenticatedPrincipals.issuerOf(login("two"))).isEqualTo("two");
	}

	@Test
	void findsNoIssuerInATokenWithoutOne() {
		assertThat(AuthenticatedPrincipals.issuerOf(jwt(Map.of("sub", "ada")))).isNull();
		assertThat(AuthenticatedPrincipals.issuerOf(opaqueToken(Map.of("sub", "ada")))).isNull();
	}

	@Test
	void findsNoIssuerOfOtherPrincipals() {
		assertThat(AuthenticatedPrincipals.issuerOf(authentication("ada"))).isNull();
		assertThat(AuthenticatedPrincipals.issuerOf(() -> "ada")).isNull();
	}

	@Test
	void findsTheIssuerOfATokenWithoutTheOAuthClientLibrary() throws ReflectiveOperationException {
		Function<Principal, @Nullable String> resourceServer = issuerWithout(
				"org.springframework.security.oauth2.client");
		assertThat(resourceServer.apply(jwt(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void findsNoIssuerWithoutTheOAuthLibraries() throws ReflectiveOperationException {
		Function<Principal, @Nullable String> plain = issuerWithout("org.springframework.security.oauth2");
		assertThat(plain.apply(authentication("ada"))).isNull();
	}

	private static Function<Principal, @Nullable String> issuerWithout(String missing)
			throws ReflectiveOperationException {
		Class<?> type = new ClassPathWithout(missing).loadClass(AuthenticatedPrincipals.class.getName());
		assertThat(type).isNotSameAs(AuthenticatedPrincipals.class);
		Method issuerOf = type.getDeclaredMethod("issuerOf", Principal.class);
		ReflectionUtils.makeAccessible(issuerOf);
		return (principal) -> (String) ReflectionUtils.invokeMethod(issuerOf, null, principal);
	}

	private static Authentication jwt(Map<String, Object> claims) {
		ClaimAccessor jwt = () -> claims;
		return new TestingAuthenticationToken(jwt, "n/a") {

			@Override
			public String getName() {
				return String.valueOf(claims.get("sub"));
			}

		};
	}

	private static Authentication opaqueToken(Map<String, Object> attributes) {
		return authentication(new DefaultOAuth2AuthenticatedPrincipal(attributes, List.of()));
	}

	private static Authentication login(String registration) {
		return new OAuth2AuthenticationToken(new DefaultOAuth2User(List.of(), CLAIMS, "sub"), List.of(), registration);
	}

	private static Authentication authentication(Object principal) {
		return new TestingAuthenticationToken(principal, "n/a");
	}

}
