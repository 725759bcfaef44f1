package dev.idempotent.sample.servers;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports why an embedded server did not start, and what to do.
 */
class EmbeddedServerFailureAnalyzer extends AbstractFailureAnalyzer<EmbeddedServerException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, EmbeddedServerException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
	}

}
