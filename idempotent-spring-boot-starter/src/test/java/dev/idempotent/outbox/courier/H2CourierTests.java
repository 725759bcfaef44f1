package dev.idempotent.outbox.courier;

import java.util.List;

/**
 * The rules on H2, where each event is claimed.
 */
class H2CourierTests extends OutageRules {

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:courier;DB_CLOSE_DELAY=-1");
	}

}
