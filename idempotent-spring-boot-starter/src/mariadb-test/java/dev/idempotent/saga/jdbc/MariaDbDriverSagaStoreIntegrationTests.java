package dev.idempotent.saga.jdbc;

/**
 * Tests for {@link JdbcSagaStore} on MariaDB through the MariaDB driver.
 */
class MariaDbDriverSagaStoreIntegrationTests extends MariaDbSagaStoreContract {

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:%d/test";
	}

}
