package dev.idempotent.outbox.transaction;

class ConnectorJCaughtDeadlockIntegrationTests extends MariaDbCaughtDeadlockRules {

	ConnectorJCaughtDeadlockIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test");
	}

}
