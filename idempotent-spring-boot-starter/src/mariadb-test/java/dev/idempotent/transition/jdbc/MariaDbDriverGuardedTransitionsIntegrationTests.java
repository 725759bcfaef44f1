package dev.idempotent.transition.jdbc;

/**
 * Tests for {@link GuardedTransitions} on MariaDB through the MariaDB driver.
 */
class MariaDbDriverGuardedTransitionsIntegrationTests extends MariaDbGuardedTransitionsContract {

	MariaDbDriverGuardedTransitionsIntegrationTests() {
		super("jdbc:mariadb://127.0.0.1:%d/test", "uuid");
	}

}
