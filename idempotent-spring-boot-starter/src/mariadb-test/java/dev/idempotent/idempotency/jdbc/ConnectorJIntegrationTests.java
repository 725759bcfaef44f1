package dev.idempotent.idempotency.jdbc;

/**
 * Tests for the records in MariaDB, through MySQL Connector/J, which counts the rows that
 * it finds.
 */
class ConnectorJIntegrationTests extends MySqlDialectContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test";
	}

}
