package dev.idempotent.idempotency.jdbc;

/**
 * Tests for the records in MariaDB with MySQL Connector/J, which is set to count the rows
 * that it changes.
 */
class ConnectorJAffectedRowsIntegrationTests extends MySqlDialectContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true";
	}

}
