package dev.idempotent.outbox.relay;

import java.util.List;

import org.junit.jupiter.api.Tag;

/**
 * The rules on H2.
 */
@Tag("long")
class H2EncryptionTests extends EncryptionRules {

	@Override
	List<String> database() {
		return List.of("spring.datasource.generate-unique-name=false",
				"spring.datasource.url=jdbc:h2:mem:encryption;DB_CLOSE_DELAY=-1");
	}

}
