package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.idempotent.idempotency.security.AuthenticatedPrincipals;
import dev.idempotent.idempotency.web.PrincipalScopeResolver;
import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
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
	OneTimeTokens oneTimeTokens(KeySettings keys, TokenProperties properties, TokenCallers callers) {
		return new OneTimeTokens(keys.namespace(), properties.decoded(), properties.validity(), callers.identify());
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

	/**
	 * How one-time tokens are bound to callers.
	 *
	 * @param identify identifies a principal; {@code null} for an anonymous one
	 * @param current returns the caller of the current thread, or {@code null}
	 */
	record TokenCallers(Function<Principal, @Nullable String> identify, Supplier<@Nullable Principal> current) {
	}

}
