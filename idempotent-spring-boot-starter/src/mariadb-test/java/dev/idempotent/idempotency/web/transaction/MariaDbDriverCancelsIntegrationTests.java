package dev.idempotent.idempotency.web.transaction;

class MariaDbDriverCancelsIntegrationTests extends MariaDbCancelRules {

	MariaDbDriverCancelsIntegrationTests() {
		super("jdbc:mariadb://127.0.0.1:%d/test");
	}

}
