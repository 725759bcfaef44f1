package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link JdbcOutboxStore} on MariaDB, through MySQL Connector/J.
 */
class ConnectorJOutboxIntegrationTests extends MySqlOutboxContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test";
	}

}
