package dev.idempotent.outbox.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Test;
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

	@Test
	void rejectsAServerThatLeavesOutIds() {
		HikariDataSource pool = mariaDb.connect(url());
		pool.setConnectionInitSql("set session auto_increment_increment = 2");
		try (pool) {
			OrderedIdsContract.rejects(new OutboxTableCheck(pool, tables("ordered").tables().tables()),
					"auto_increment_increment is 2", "auto_increment_increment to 1");
		}
	}

}
