package dev.idempotent.idempotency.web.transaction;

class MariaDbDriverDeadlockIntegrationTests extends MariaDbDeadlockRules {

	MariaDbDriverDeadlockIntegrationTests() {
		super("jdbc:mariadb://127.0.0.1:%d/test");
	}

}
