package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link JdbcOutboxStore} on MariaDB, through the MariaDB driver.
 */
class MariaDbDriverOutboxIntegrationTests extends MySqlOutboxContract {

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:%d/test";
	}

}
