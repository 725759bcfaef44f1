package dev.idempotent.saga.jdbc;

/**
 * Tests for {@link JdbcSagaStore} on MariaDB with MySQL Connector/J, which is set to
 * count the rows that it changes.
 */
class ConnectorJAffectedRowsSagaStoreIntegrationTests extends MariaDbSagaStoreContract {

	@Override
	String url() {
		return "jdbc:mysql://127.0.0.1:%d/test?useAffectedRows=true";
	}

}
