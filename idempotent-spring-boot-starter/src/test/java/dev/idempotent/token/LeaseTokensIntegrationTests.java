package dev.idempotent.token;

import java.util.List;

/**
 * Tokens under {@code Guarantee.LEASE}, with their keys in Redis, on Jetty.
 */
class LeaseTokensIntegrationTests extends TokenRules {

	@Override
	List<String> properties() {
		return List.of("test.container=jetty");
	}

}
