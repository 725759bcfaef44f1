package dev.idempotent.autoconfigure;

import dev.idempotent.IdempotentConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Reports a configuration mistake and how to correct it. Ordered before Boot's own
 * analyzers, which would only report that a property could not be bound.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class IdempotentConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotentConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, IdempotentConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.getAction(), rootFailure);
	}

}
