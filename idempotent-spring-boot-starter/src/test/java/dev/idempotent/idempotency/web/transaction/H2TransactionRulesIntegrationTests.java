package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;

@Tag("long")
class H2TransactionRulesIntegrationTests extends TransactionRules {

	H2TransactionRulesIntegrationTests() {
		super(TransactionApplication.class, WebApplication.WITH_DATABASE, "spring.datasource.url=jdbc:h2:mem:rules",
				"spring.datasource.username=sa", "spring.datasource.password=");
	}

}
