package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link JdbcOrderedStore} on MariaDB, through MySQL Connector/J.
 */
class ConnectorJOrderedIntegrationTests extends MySqlOrderedContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test";
	}

}
