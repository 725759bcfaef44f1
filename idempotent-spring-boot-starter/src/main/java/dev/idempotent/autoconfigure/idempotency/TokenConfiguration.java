package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.security.AuthenticatedPrincipals;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.token.OneTimeTokens;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.security.core.Authentication;

/**
 * One-time tokens, for applications with a secret.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(TokenProperties.class)
class TokenConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnSecrets.class)
	OneTimeTokens oneTimeTokens(IdempotencyNamespace namespace, TokenProperties properties, TokenCallers callers) {
		return new OneTimeTokens(namespace.name(), properties.decoded(), properties.validity(), callers.identify());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Authentication.class)
	static class WithSecurity {

		@Bean
		TokenCallers idempotencyTokenCallers() {
			return new TokenCallers(
					(principal) -> AuthenticatedPrincipals.isAnonymous(principal) ? null : PrincipalScopeResolver
						.scopeOf(AuthenticatedPrincipals.issuerOf(principal), principal.getName()),
					AuthenticatedPrincipals::current);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("org.springframework.security.core.Authentication")
	static class WithoutSecurity {

		@Bean
		TokenCallers idempotencyTokenCallers() {
			return new TokenCallers((principal) -> PrincipalScopeResolver.scopeOf(null, principal.getName()),
					() -> null);
		}

	}

	/**
	 * An empty list, such as from a variable that is not set, is none.
	 */
	static final class OnSecrets implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return TokenProperties.hasSecrets(context.getEnvironment());
		}

	}

}
