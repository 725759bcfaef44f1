package dev.idempotent.outbox.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * All promises about ordered events for MariaDB with one driver.
 */
abstract class MySqlOrderedContract extends JdbcOrderedStoreContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, DataSource> pools = new ConcurrentHashMap<>();

	/**
	 * The URL of the database, with a place for the port.
	 */
	abstract String url();

	@Override
	StoreOnTables create(String name) {
		DataSource pool = pools.computeIfAbsent(url(), mariaDb::connect);
		String driver = url().substring("jdbc:".length(), url().indexOf("://"));
		return StoreOnTables.create(pool, "mysql", name + "_on_" + driver + "_");
	}

}
