package dev.idempotent.outbox.relay;

import java.util.List;

/**
 * The promises on H2.
 */
class H2RelayTests extends AbstractRelayTests {

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:relay;DB_CLOSE_DELAY=-1");
	}

}
