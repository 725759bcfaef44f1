package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.WebApplication;

/**
 * The rules on another servlet container.
 */
class JettyTransactionRulesIntegrationTests extends TransactionRules {

	JettyTransactionRulesIntegrationTests() {
		super(TransactionApplication.class, WebApplication.WITH_DATABASE, "test.container=jetty");
	}

}
