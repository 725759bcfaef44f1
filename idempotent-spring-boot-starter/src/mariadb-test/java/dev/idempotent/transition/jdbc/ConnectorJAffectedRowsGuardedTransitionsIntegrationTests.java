package dev.idempotent.transition.jdbc;

/**
 * Tests for {@link GuardedTransitions} on MariaDB through MySQL's driver, which counts
 * changed rows only.
 */
class ConnectorJAffectedRowsGuardedTransitionsIntegrationTests extends MariaDbGuardedTransitionsContract {

	ConnectorJAffectedRowsGuardedTransitionsIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true", "char(36)");
	}

}
