package dev.idempotent.outbox.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for the operations of operators on MariaDB.
 */
class MariaDbOperatorsIntegrationTests extends OperatorsContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static HikariDataSource pool;

	@BeforeAll
	static void connect() {
		pool = mariaDb.connect("jdbc:mariadb://127.0.0.1:%d/test");
	}

	@AfterAll
	static void close() {
		pool.close();
	}

	@Override
	OperatorTables create() {
		return OperatorTables.create(pool, "mysql", "ops_");
	}

	@Override
	String database() {
		return "MYSQL";
	}

}
