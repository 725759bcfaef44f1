package dev.idempotent.autoconfigure.operations;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.idempotent.saga.SagaSnapshot;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.SecurityContext;

/**
 * Publishes an audit event for each change of a saga by an operator, and logs it without
 * the operator's note.
 */
final class SagaAudit {

	private static final Logger logger = LoggerFactory.getLogger(SagaAudit.class);

	private final OperatorAudit audit;

	SagaAudit(OperatorAudit audit) {
		this.audit = audit;
	}

	/**
	 * Records that a halted saga continues.
	 * @param outcome {@code DONE}, or {@code UNKNOWN} after a failure
	 */
	void retried(SagaSnapshot saga, String outcome, SecurityContext security) {
		logger.info("An operator has requested to retry the saga {} ({}): {}", saga.id(), saga.name(), outcome);
		publish("SAGA_RETRIED", saga, null, null, outcome, security);
	}

	/**
	 * Records that a step counts as undone.
	 * @param outcome {@code DONE}, or {@code UNKNOWN} after a failure
	 */
	void skipped(SagaSnapshot saga, String step, String note, String outcome, SecurityContext security) {
		logger.info("An operator has requested to skip the step {} of the saga {} ({}): {}", step, saga.id(),
				saga.name(), outcome);
		publish("SAGA_STEP_SKIPPED", saga, step, note, outcome, security);
	}

	private void publish(String type, SagaSnapshot saga, @Nullable String step, @Nullable String note, String outcome,
			SecurityContext security) {
		Map<String, Object> data = new LinkedHashMap<>();
		data.put("id", saga.id().digest());
		data.put("saga", saga.name());
		if (step != null && note != null) {
			data.put("step", step);
			data.put("note", note);
		}
		data.put("outcome", outcome);
		this.audit.publish(security, type, data);
	}

}
