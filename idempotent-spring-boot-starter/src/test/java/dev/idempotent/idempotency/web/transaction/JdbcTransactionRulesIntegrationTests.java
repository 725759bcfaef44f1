package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.WebApplication;

class JdbcTransactionRulesIntegrationTests extends TransactionRules {

	JdbcTransactionRulesIntegrationTests() {
		super(TransactionApplication.class, WebApplication.WITH_DATABASE);
	}

}
