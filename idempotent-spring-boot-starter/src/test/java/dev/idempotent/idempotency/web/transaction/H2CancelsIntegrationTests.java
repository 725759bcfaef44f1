package dev.idempotent.idempotency.web.transaction;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

/**
 * Cancels on H2.
 */
@Tag("long")
class H2CancelsIntegrationTests extends CancelRules {

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithDatabase(HoldApplication.class, container, "idempotent.web.max-response-body=10KB",
				"idempotent.web.max-buffered-response=100KB");
	}

}
