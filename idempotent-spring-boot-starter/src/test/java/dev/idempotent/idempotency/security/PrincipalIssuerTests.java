package dev.idempotent.idempotency.security;

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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link PrincipalIssuer}.
 */
class PrincipalIssuerTests {

	private static final Map<String, Object> CLAIMS = Map.of("sub", "ada", "iss", "https://one.example");

	private final PrincipalIssuer issuer = new PrincipalIssuer();

	@Test
	void isTheIssuerOfAJwt() {
		assertThat(this.issuer.apply(jwt(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void isTheIssuerOfAnOpaqueToken() {
		assertThat(this.issuer.apply(opaqueToken(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void isTheRegistrationOfALoginWhateverItsToken() {
		assertThat(this.issuer.apply(login("one"))).isEqualTo("one");
		assertThat(this.issuer.apply(login("two"))).isEqualTo("two");
	}

	@Test
	void isNobodyWhereATokenNamesNone() {
		assertThat(this.issuer.apply(jwt(Map.of("sub", "ada")))).isNull();
		assertThat(this.issuer.apply(opaqueToken(Map.of("sub", "ada")))).isNull();
	}

	@Test
	void isNobodyForOtherPrincipals() {
		assertThat(this.issuer.apply(authentication("ada"))).isNull();
		assertThat(this.issuer.apply(() -> "ada")).isNull();
	}

	@Test
	void knowsTokensWithoutTheClientForLogins() throws ReflectiveOperationException {
		Function<Principal, @Nullable String> resourceServer = issuerWithout(
				"org.springframework.security.oauth2.client");
		assertThat(resourceServer.apply(jwt(CLAIMS))).isEqualTo("https://one.example");
	}

	@Test
	void isNobodyWithoutOAuth() throws ReflectiveOperationException {
		Function<Principal, @Nullable String> plain = issuerWithout("org.springframework.security.oauth2");
		assertThat(plain.apply(authentication("ada"))).isNull();
	}

	@SuppressWarnings("unchecked")
	private static Function<Principal, @Nullable String> issuerWithout(String missing)
			throws ReflectiveOperationException {
		Class<?> type = new ClassPathWithout(missing).loadClass(PrincipalIssuer.class.getName());
		assertThat(type).isNotSameAs(PrincipalIssuer.class);
		return (Function<Principal, @Nullable String>) type.getConstructor().newInstance();
	}

	private static Authentication jwt(Map<String, Object> claims) {
		ClaimAccessor jwt = () -> claims;
		return authentication(jwt);
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
