package dev.idempotent.token;

import java.util.List;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;

/**
 * Tokens under {@code Guarantee.TRANSACTION} on H2, without Redis.
 */
@Tag("long")
class H2TokensIntegrationTests extends TokenRules {

	@Override
	List<String> properties() {
		return List.of(WebApplication.WITH_DATABASE, "idempotent.guarantee=transaction", "idempotent.store=jdbc",
				"spring.datasource.url=jdbc:h2:mem:tokens;DB_CLOSE_DELAY=-1", "spring.datasource.username=sa",
				"spring.datasource.password=");
	}

}
