package dev.idempotent.autoconfigure.outbox;

import dev.idempotent.inbox.InboxConfigurationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Tells what is wrong with a listener and what to do about it.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class InboxConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<InboxConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, InboxConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.getAction(), rootFailure);
	}

}
