package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;

/**
 * The rules on another servlet container.
 */
@Tag("long")
class JettyTransactionRulesIntegrationTests extends TransactionRules {

	JettyTransactionRulesIntegrationTests() {
		super(TransactionApplication.class, WebApplication.WITH_DATABASE, "test.container=jetty");
	}

}
