package dev.idempotent.autoconfigure.actuate;

import java.util.List;

/**
 * The endpoint on H2.
 */
class H2OutboxEndpointTests extends OutboxOperationsRules {

	@Override
	List<String> database() {
		return List.of("spring.datasource.url=jdbc:h2:mem:endpoint;DB_CLOSE_DELAY=-1");
	}

}
