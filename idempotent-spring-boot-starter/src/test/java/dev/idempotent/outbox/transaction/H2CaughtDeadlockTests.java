package dev.idempotent.outbox.transaction;

import java.util.List;

/**
 * The promises with a {@code JdbcTransactionManager} on H2.
 */
class H2CaughtDeadlockTests extends AbstractCaughtDeadlockTests {

	@Override
	List<String> database() {
		return List.of("spring.datasource.url=jdbc:h2:mem:caught-deadlocks;LOCK_TIMEOUT=20000");
	}

	@Override
	String waiting() {
		return "select count(*) from information_schema.sessions where blocker_id is not null";
	}

}
