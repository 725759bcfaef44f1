package dev.idempotent.outbox.transaction;

class MariaDbDriverCaughtDeadlockIntegrationTests extends MariaDbCaughtDeadlockRules {

	MariaDbDriverCaughtDeadlockIntegrationTests() {
		super("jdbc:mariadb://127.0.0.1:%d/test");
	}

}
