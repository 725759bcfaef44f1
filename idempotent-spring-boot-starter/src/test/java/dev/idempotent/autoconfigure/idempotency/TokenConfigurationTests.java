package dev.idempotent.autoconfigure.idempotency;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.security.Principal;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;

import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.token.OneTimeTokens;
import dev.idempotent.token.TokenCheck.Outcome;
import dev.idempotent.token.TokenSecret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the auto-configuration of {@link OneTimeTokens}.
 */
class TokenConfigurationTests {

	private static final String SECRET = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0";

	private static final Authentication ADA = new TestingAuthenticationToken("ada", "");

	private static final Authentication ANONYMOUS = new AnonymousAuthenticationToken("key", "anonymousUser",
			AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withBean(InMemoryIdempotencyStore.class, () -> new InMemoryIdempotencyStore(InstantSource.system()))
		.withPropertyValues("idempotent.namespace=shop");

	@Test
	void issuesNoTokensWithoutASecret() {
		this.application.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(OneTimeTokens.class));
	}

	@Test
	void bindsTokensToTheNameOfTheCallerAndNotToHowItWasAuthenticated() {
		withSecret().run((context) -> {
			OneTimeTokens tokens = context.getBean(OneTimeTokens.class);
			String token = tokens.issue("pay", ADA);
			assertThat(tokens.verify(token, "pay", (Principal) () -> "ada").outcome()).isEqualTo(Outcome.VALID);
			assertThat(tokens.verify(token, "pay", (Principal) () -> "bob").outcome()).isEqualTo(Outcome.REFUSED);
			assertThat(tokens.verify(token, "pay", ANONYMOUS).outcome()).isEqualTo(Outcome.REFUSED);
		});
	}

	@Test
	void treatsTheAnonymousAuthenticationAsNoCaller() {
		withSecret().run((context) -> {
			OneTimeTokens tokens = context.getBean(OneTimeTokens.class);
			assertThat(tokens.verify(tokens.issue("pay", ANONYMOUS), "pay", ADA).outcome()).isEqualTo(Outcome.VALID);
		});
	}

	@Test
	void readsSecretsInTheirOrderWithTheValidity() {
		String other = SECRET.replace('c', 'd');
		withSecret().run(
				(before) -> this.application
					.withPropertyValues("idempotent.token.secrets[0]=k2:" + other,
							"idempotent.token.secrets[1]=k1:" + SECRET, "idempotent.token.validity=10m")
					.run((after) -> {
						OneTimeTokens rotated = after.getBean(OneTimeTokens.class);
						OneTimeTokens old = before.getBean(OneTimeTokens.class);
						assertThat(rotated.verify(old.issue("pay", ADA), "pay", ADA).outcome())
							.isEqualTo(Outcome.VALID);
						assertThat(old.verify(rotated.issue("pay", ADA), "pay", ADA).outcome())
							.isEqualTo(Outcome.REFUSED);
						assertThat(rotated.verify(rotated.issue("pay", ADA), "pay", ADA).retention())
							.isEqualTo(Duration.ofMinutes(15));
					}));
	}

	@Test
	void givesWayToABeanOfTheApplication() {
		OneTimeTokens own = new OneTimeTokens("shop", List.of(new TokenSecret("k1", new byte[32])), Duration.ofHours(1),
				Principal::getName);
		withSecret().withBean(OneTimeTokens.class, () -> own)
			.run((context) -> assertThat(context).getBean(OneTimeTokens.class).isSameAs(own));
	}

	@ParameterizedTest
	@ValueSource(strings = { SECRET, "k1:" + SECRET + "%", "k1:c2VjcmV0", "k1:" + SECRET + ",k2:" + SECRET })
	void showsNoSecretInAMessage(String secrets) {
		this.application.withPropertyValues("idempotent.token.secrets=" + secrets)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("idempotent.token.secrets[")
				.satisfies((failure) -> assertThat(failure).extracting(TokenConfigurationTests::trace)
					.asString()
					.doesNotContain("c2VjcmV0")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "k1:${TOKEN_SECRET_THAT_IS_NOT_SET}", "${TOKENS_THAT_ARE_NOT_SET}" })
	void namesAnUnresolvedPlaceholder(String secrets) {
		this.application.withPropertyValues("idempotent.token.secrets[0]=" + secrets)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("idempotent.token.secrets[0] has a placeholder for a property or environment "
						+ "variable that is not set"));
	}

	@Test
	void showsNoSecretOfItsProperties() {
		assertThat(new IdempotencyProperties.Token(List.of("k1:" + SECRET), Duration.ofHours(2))).asString()
			.doesNotContain(SECRET);
	}

	private ApplicationContextRunner withSecret() {
		return this.application.withPropertyValues("idempotent.token.secrets=k1:" + SECRET);
	}

	private static String trace(Throwable failure) {
		StringWriter text = new StringWriter();
		failure.printStackTrace(new PrintWriter(text));
		return text.toString();
	}

}
