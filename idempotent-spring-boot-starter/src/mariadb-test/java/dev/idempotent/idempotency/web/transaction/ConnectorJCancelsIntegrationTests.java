package dev.idempotent.idempotency.web.transaction;

class ConnectorJCancelsIntegrationTests extends MariaDbCancelRules {

	ConnectorJCancelsIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test");
	}

}
