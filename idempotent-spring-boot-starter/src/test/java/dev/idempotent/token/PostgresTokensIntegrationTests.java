package dev.idempotent.token;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.testing.WebApplication;

/**
 * Tokens under {@code Guarantee.TRANSACTION} on PostgreSQL, with Redis in front.
 */
class PostgresTokensIntegrationTests extends TokenRules {

	@Override
	List<String> properties() {
		return Stream
			.concat(postgres.properties().stream(), Stream.of(WebApplication.WITH_DATABASE,
					"idempotent.guarantee=transaction", "idempotent.jdbc.initialize-schema=always"))
			.toList();
	}

}
