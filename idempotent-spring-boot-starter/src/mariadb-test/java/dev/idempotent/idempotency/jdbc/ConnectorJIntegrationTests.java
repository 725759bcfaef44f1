package dev.idempotent.idempotency.jdbc;

/**
 * Tests for the records in MariaDB with MySQL Connector/J, which counts the rows that it
 * finds by default.
 */
class ConnectorJIntegrationTests extends MySqlDialectContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test";
	}

}
