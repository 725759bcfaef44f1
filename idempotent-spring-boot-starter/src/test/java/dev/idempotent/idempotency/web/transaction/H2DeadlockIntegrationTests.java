package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import org.junit.jupiter.api.Tag;

@Tag("long")
class H2DeadlockIntegrationTests extends DeadlockRules.GoingOn {

	@Override
	List<String> database() {
		return List.of("spring.datasource.url=jdbc:h2:mem:deadlocks;LOCK_TIMEOUT=20000");
	}

	@Override
	String waiting() {
		return "select count(*) from information_schema.sessions where blocker_id is not null";
	}

}
