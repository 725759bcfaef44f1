package dev.idempotent.transition.jdbc;

/**
 * Tests for {@link GuardedTransitions} on MariaDB through MySQL's driver.
 */
class ConnectorJGuardedTransitionsIntegrationTests extends MariaDbGuardedTransitionsContract {

	ConnectorJGuardedTransitionsIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test", "char(36)");
	}

}
