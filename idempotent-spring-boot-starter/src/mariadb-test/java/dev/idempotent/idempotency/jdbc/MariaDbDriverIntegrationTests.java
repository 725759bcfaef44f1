package dev.idempotent.idempotency.jdbc;

/**
 * Tests for the records in MariaDB, through the MariaDB driver.
 */
class MariaDbDriverIntegrationTests extends MySqlDialectContract {

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:%d/test";
	}

}
