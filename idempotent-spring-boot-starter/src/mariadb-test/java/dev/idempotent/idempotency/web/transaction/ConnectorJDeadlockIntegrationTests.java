package dev.idempotent.idempotency.web.transaction;

class ConnectorJDeadlockIntegrationTests extends MariaDbDeadlockRules {

	ConnectorJDeadlockIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test");
	}

}
