package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.security.AuthenticatedPrincipals;
import dev.idempotent.idempotency.web.PrincipalScope;
import dev.idempotent.token.OneTimeTokens;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.security.core.Authentication;

/**
 * One-time tokens, for applications that inject {@link OneTimeTokens} or have a web
 * handler that takes its key from one.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TokenProperties.class)
class TokenConfiguration {

	/**
	 * Lazy, because it fails without secrets, which most applications do not need.
	 */
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	OneTimeTokens oneTimeTokens(IdempotencyNamespace namespace, TokenProperties properties, TokenCallers callers) {
		return new OneTimeTokens(namespace.name(), properties.decoded(), properties.validity(), callers.identify());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Authentication.class)
	static class WithSecurity {

		@Bean
		TokenCallers idempotencyTokenCallers() {
			return new TokenCallers(
					(principal) -> AuthenticatedPrincipals.isAnonymous(principal) ? null
							: PrincipalScope.of(AuthenticatedPrincipals.issuerOf(principal), principal.getName()),
					AuthenticatedPrincipals::current);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("org.springframework.security.core.Authentication")
	static class WithoutSecurity {

		@Bean
		TokenCallers idempotencyTokenCallers() {
			return new TokenCallers((principal) -> PrincipalScope.of(null, principal.getName()), () -> null);
		}

	}

}
