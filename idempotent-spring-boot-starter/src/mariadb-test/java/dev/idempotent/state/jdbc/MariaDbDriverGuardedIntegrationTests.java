package dev.idempotent.state.jdbc;

/**
 * Tests for {@link Guarded} on MariaDB through the MariaDB driver.
 */
class MariaDbDriverGuardedIntegrationTests extends MariaDbGuardedContract {

	MariaDbDriverGuardedIntegrationTests() {
		super("jdbc:mariadb://127.0.0.1:%d/test", "uuid");
	}

}
