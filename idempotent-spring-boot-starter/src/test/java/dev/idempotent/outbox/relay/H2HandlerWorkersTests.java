package dev.idempotent.outbox.relay;

import java.util.List;

/**
 * The rules on H2.
 */
class H2HandlerWorkersTests extends HandlerWorkersRules {

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:handler-workers;DB_CLOSE_DELAY=-1");
	}

}
