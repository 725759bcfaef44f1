package dev.idempotent.outbox.jdbc;

import java.util.UUID;

import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;

/**
 * Tests for the operations of operators on H2.
 */
class H2OperatorsTests extends OperatorsContract {

	private final JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID(), "sa", "");

	@Override
	OperatorTables create() {
		return OperatorTables.create(this.pool, "h2", "ops_");
	}

	@Override
	String database() {
		return "H2";
	}

	@AfterEach
	void close() {
		this.pool.dispose();
	}

}
