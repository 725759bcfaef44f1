package dev.idempotent.autoconfigure.operations;

import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.claim.KeyChange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes an audit event for each change of a key by an operator, and logs it.
 */
final class KeyAudit {

	private static final Logger logger = LoggerFactory.getLogger(KeyAudit.class);

	private final ApplicationEventPublisher publisher;

	KeyAudit(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	/**
	 * Records a change unless the key was left unchanged.
	 */
	void record(KeyVerb verb, IdempotencyKey key, KeyChange change, SecurityContext security) {
		if (change.before() == null || change.outcome() == KeyChange.Outcome.REFUSED) {
			return;
		}
		Map<String, Object> data = new LinkedHashMap<>();
		KeyFacts.of(change.before().deciding()).describe(data);
		publish(verb, key, change.outcome().name(), data, security);
	}

	/**
	 * Records a change that may have been made before a failure.
	 */
	void recordFailure(KeyVerb verb, IdempotencyKey key, SecurityContext security) {
		publish(verb, key, "UNKNOWN", new LinkedHashMap<>(), security);
	}

	private void publish(KeyVerb verb, IdempotencyKey key, String outcome, Map<String, Object> data,
			SecurityContext security) {
		logger.info("An operator has requested to {} the key {} {}: {}", verb.name().toLowerCase(Locale.ROOT), key,
				data, outcome);
		data.put("digest", key.digest());
		data.put("outcome", outcome);
		Principal principal = security.getPrincipal();
		this.publisher.publishEvent(new AuditApplicationEvent(
				new AuditEvent((principal != null) ? principal.getName() : "", verb.auditType(), data)));
	}

}
