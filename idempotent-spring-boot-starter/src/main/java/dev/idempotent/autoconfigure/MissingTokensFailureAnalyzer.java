package dev.idempotent.autoconfigure;

import dev.idempotent.token.OneTimeTokens;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Reports why there is no {@link OneTimeTokens} bean to inject.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingTokensFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause) {
		return (cause.getBeanType() != OneTimeTokens.class) ? null : new FailureAnalysis(
				"OneTimeTokens is injected, and there is no such bean: idempotent.token.secrets is empty, or "
						+ "idempotent.enabled is false.",
				"Set idempotent.token.secrets to an id and a secret, the same in all instances, such as k1: followed by "
						+ "the output of: openssl rand -base64 32.",
				rootFailure);
	}

}
