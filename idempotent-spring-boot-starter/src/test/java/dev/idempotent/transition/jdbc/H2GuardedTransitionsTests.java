package dev.idempotent.transition.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Tests for {@link GuardedTransitions} on H2.
 */
class H2GuardedTransitionsTests extends AbstractGuardedTransitionsTests {

	private static final HikariDataSource pool = new HikariDataSource();

	@SuppressWarnings("NullAway.Init")
	private static OrderTable orders;

	@BeforeAll
	static void createTable() {
		pool.setJdbcUrl("jdbc:h2:mem:guarded;LOCK_TIMEOUT=60000");
		pool.setConnectionTimeout(60_000);
		orders = OrderTable.create(pool, "orders", "uuid");
	}

	@AfterAll
	static void close() {
		pool.close();
	}

	@Override
	OrderTable orders() {
		return orders;
	}

	@Override
	OrderTable create(String name, String idType) {
		return OrderTable.create(pool, name, idType);
	}

	@Override
	String binaryType() {
		return "varbinary(16)";
	}

}
