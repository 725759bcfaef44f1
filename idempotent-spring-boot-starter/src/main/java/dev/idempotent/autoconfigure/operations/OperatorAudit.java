package dev.idempotent.autoconfigure.operations;

import java.security.Principal;
import java.util.Map;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes an audit event for each change by an operator.
 */
final class OperatorAudit {

	/**
	 * The outcome of a change that may have been made before a failure.
	 */
	static final String UNKNOWN = "UNKNOWN";

	private final ApplicationEventPublisher publisher;

	OperatorAudit(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	void publish(SecurityContext operator, String type, Map<String, Object> data) {
		Principal principal = operator.getPrincipal();
		this.publisher.publishEvent(
				new AuditApplicationEvent(new AuditEvent((principal != null) ? principal.getName() : "", type, data)));
	}

}
