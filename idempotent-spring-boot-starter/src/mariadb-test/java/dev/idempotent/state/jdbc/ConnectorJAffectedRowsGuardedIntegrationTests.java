package dev.idempotent.state.jdbc;

/**
 * Tests for {@link Guarded} on MariaDB through MySQL's driver, which counts changed rows
 * only.
 */
class ConnectorJAffectedRowsGuardedIntegrationTests extends MariaDbGuardedContract {

	ConnectorJAffectedRowsGuardedIntegrationTests() {
		super("jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true", "char(36)");
	}

}
