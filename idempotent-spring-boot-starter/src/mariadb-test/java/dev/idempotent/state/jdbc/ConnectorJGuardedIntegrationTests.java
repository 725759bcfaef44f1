package dev.idempotent.state.jdbc;

/**
 * Tests for {@link Guarded} on MariaDB through MySQL's driver.
 */
class ConnectorJGuardedIntegrationTests extends MariaDbGuardedContract {

	ConnectorJGuardedIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test", "char(36)");
	}

}
