package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link EventTable} on MariaDB, through MySQL Connector/J.
 */
class ConnectorJEventTableIntegrationTests extends MySqlEventTableContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test";
	}

}
