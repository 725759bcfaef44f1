package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link JdbcOrderedStore} on MariaDB, through the MariaDB driver.
 */
class MariaDbDriverOrderedIntegrationTests extends MySqlOrderedContract {

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:%d/test";
	}

}
