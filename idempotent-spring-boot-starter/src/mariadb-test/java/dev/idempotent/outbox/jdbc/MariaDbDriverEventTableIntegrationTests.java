package dev.idempotent.outbox.jdbc;

/**
 * Tests for {@link EventTable} on MariaDB, through the MariaDB driver.
 */
class MariaDbDriverEventTableIntegrationTests extends MySqlEventTableContract {

	@Override
	String url() {
		return "jdbc:mariadb://127.0.0.1:%d/test";
	}

}
