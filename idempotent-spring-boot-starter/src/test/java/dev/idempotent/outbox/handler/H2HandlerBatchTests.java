package dev.idempotent.outbox.handler;

import java.util.List;

/**
 * The promises on H2.
 */
class H2HandlerBatchTests extends AbstractHandlerBatchTests {

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:handler-batches;DB_CLOSE_DELAY=-1");
	}

}
