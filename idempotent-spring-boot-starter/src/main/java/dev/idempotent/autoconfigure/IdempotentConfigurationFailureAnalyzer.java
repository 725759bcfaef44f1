package dev.idempotent.autoconfigure;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Tells what is wrong with the configuration and what to do about it. Ahead of Boot's own
 * analyzers, which see only that some property could not be bound.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class IdempotentConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotentConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, IdempotentConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.getAction(), rootFailure);
	}

}
