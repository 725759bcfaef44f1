package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.authentication.RememberMeAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authentication.ott.OneTimeTokenAuthentication;
import org.springframework.security.core.AuthenticatedPrincipal;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.security.oauth2.core.ClaimAccessor;
import org.springframework.security.oauth2.core.user.DefaultOAuth2User;
import org.springframework.security.web.authentication.preauth.PreAuthenticatedAuthenticationToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatRuntimeException;

class PrincipalScopeResolverTests {

	@SuppressWarnings("NullAway") // Annotations of type arguments are not read from
									// classes.
	private final PrincipalScopeResolver resolver = new PrincipalScopeResolver(AuthenticatedPrincipals::issuerOf,
			AuthenticatedPrincipals::current);

	private final UserDetails ada = User.withUsername("ada").password("secret").roles("USER").build();

	@Test
	void isTheSameHoweverACallerWasAuthenticated() {
		Stream<Principal> ways = Stream.of(UsernamePasswordAuthenticationToken.authenticated(this.ada, null, List.of()),
				new RememberMeAuthenticationToken("key", this.ada, List.of()),
				new OneTimeTokenAuthentication(this.ada, List.of()),
				new PreAuthenticatedAuthenticationToken("ada", "certificate", List.of()), () -> "ada");
		assertThat(ways.map(this::scope).distinct()).hasSize(1);
	}

	@Test
	void isAnotherForAnotherName() {
		assertThat(scope(() -> "ada")).isNotEqualTo(scope(() -> "bob"));
	}

	@Test
	void isAnotherForTheSameNameOfAnotherIssuer() {
		Stream<Principal> people = Stream.of(token(Map.of("iss", "https://one.example"), "ada"),
				token(Map.of("iss", "https://two.example"), "ada"), login("one"), login("two"), () -> "ada");
		assertThat(people.map(this::scope).distinct()).hasSize(5);
	}

	@Test
	void isTheSameWithARefreshedToken() {
		String first = scope(token(Map.of("iss", "https://one.example", "jti", "1"), "ada"));
		assertThat(scope(token(Map.of("iss", "https://one.example", "jti", "2"), "ada"))).isEqualTo(first);
	}

	@Test
	void doesNotTakeTheClientOfATokenWithoutSubjectForItsUser() {
		assertRefused(token(Map.of("iss", "https://one.example", "client_id", "shop", "azp", "shop"), null));
		assertRefused(token(Map.of("iss", "https://one.example", "client_id", "till", "azp", "till"), ""));
	}

	@Test
	void isRefusedToAPrincipalWithoutAName() {
		assertRefused(() -> null);
		assertRefused(() -> "");
		assertRefused(() -> " ");
	}

	/**
	 * As filters of applications do, with principals of their own.
	 */
	@Test
	void isRefusedToAPrincipalThatIsNamedByItsText() {
		for (Object principal : List.of(new Object(), new OwnPrincipal(7, "refreshed"), List.of("ada"))) {
			assertThatRuntimeException()
				.isThrownBy(() -> scope(UsernamePasswordAuthenticationToken.authenticated(principal, null, List.of())))
				.withMessageContaining("toString() of " + principal.getClass().getName())
				.withMessageNotContaining("refreshed");
		}
	}

	@Test
	void isThatOfAPrincipalWithAName() {
		UUID id = UUID.randomUUID();
		for (Object principal : List.of("ada", 7L, id, this.ada, (AuthenticatedPrincipal) () -> "ada",
				(Principal) () -> "ada")) {
			assertThat(scope(UsernamePasswordAuthenticationToken.authenticated(principal, null, List.of())))
				.isNotEmpty();
		}
		assertThat(scope(new TestingAuthenticationToken(new OwnPrincipal(7, "first"), "n/a") {

			@Override
			public String getName() {
				return "7";
			}

		})).isEqualTo(scope(() -> "7"));
	}

	@Test
	void isRefusedForCredentialsWithoutAPrincipal() {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.addHeader("Authorization", "AWS4-HMAC-SHA256 Signature=other-each-time");
		assertThatRuntimeException().isThrownBy(() -> this.resolver.resolveScope(request))
			.withMessageContaining("IdempotencyScopeResolver")
			.withMessageNotContaining("Signature");
	}

	@Test
	void isEmptyWithoutPrincipalAndCredentials() {
		assertThat(this.resolver.resolveScope(new MockHttpServletRequest())).isEmpty();
	}

	private void assertRefused(Principal principal) {
		assertThatRuntimeException().isThrownBy(() -> scope(principal))
			.withMessageStartingWith("Nothing was done: the principal of this request has no name")
			.withMessageContaining("IdempotencyScopeResolver");
	}

	private String scope(Principal principal) {
		MockHttpServletRequest request = new MockHttpServletRequest();
		request.setUserPrincipal(principal);
		return this.resolver.resolveScope(request);
	}

	private static Principal token(Map<String, Object> claims, @Nullable String name) {
		ClaimAccessor token = () -> claims;
		return new TestingAuthenticationToken(token, "n/a") {

			@Override
			@SuppressWarnings("NullAway")
			public String getName() {
				return name;
			}

		};
	}

	private static Principal login(String registration) {
		return new OAuth2AuthenticationToken(new DefaultOAuth2User(List.of(), Map.of("sub", "ada"), "sub"), List.of(),
				registration);
	}

	private record OwnPrincipal(long id, String token) {
	}

}
