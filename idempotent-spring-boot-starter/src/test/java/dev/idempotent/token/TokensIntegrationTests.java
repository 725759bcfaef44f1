package dev.idempotent.token;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * Tokens with their keys in Redis or in a database.
 */
class TokensIntegrationTests {

	/**
	 * Under {@code Guarantee.LEASE}, with their keys in Redis, on Jetty.
	 */
	@Nested
	class LeaseTests extends AbstractOneTimeTokensTests {

		@Override
		List<String> properties() {
			return List.of("test.container=jetty");
		}

	}

	/**
	 * Under {@code Guarantee.TRANSACTION}, with Redis in front.
	 */
	@Nested
	class PostgresTests extends AbstractOneTimeTokensTests {

		@Override
		List<String> properties() {
			List<String> properties = new ArrayList<>(postgres.properties());
			properties.addAll(List.of(WebApplication.WITH_DATABASE, "idempotent.guarantee=transaction",
					"idempotent.jdbc.initialize-schema=always"));
			return properties;
		}

	}

	/**
	 * Under {@code Guarantee.TRANSACTION}, without Redis.
	 */
	@Nested
	@Tag("long")
	class H2Tests extends AbstractOneTimeTokensTests {

		@Override
		List<String> properties() {
			return List.of(WebApplication.WITH_DATABASE, "idempotent.guarantee=transaction", "idempotent.store=jdbc",
					"spring.datasource.url=jdbc:h2:mem:tokens;DB_CLOSE_DELAY=-1", "spring.datasource.username=sa",
					"spring.datasource.password=");
		}

	}

}
