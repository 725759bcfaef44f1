package dev.idempotent.transition.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests for {@link GuardedTransitions} on PostgreSQL, at each isolation.
 */
class PostgresGuardedTransitionsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static HikariDataSource committed;

	@SuppressWarnings("NullAway.Init")
	private static HikariDataSource repeatable;

	@SuppressWarnings("NullAway.Init")
	private static HikariDataSource serializable;

	@BeforeAll
	static void connect() {
		committed = pool("TRANSACTION_READ_COMMITTED");
		repeatable = pool("TRANSACTION_REPEATABLE_READ");
		serializable = pool("TRANSACTION_SERIALIZABLE");
	}

	private static HikariDataSource pool(String isolation) {
		HikariDataSource pool = postgres.connect();
		pool.setTransactionIsolation(isolation);
		pool.setConnectionTimeout(60_000);
		return pool;
	}

	abstract static class PostgresContract extends GuardedTransitionsContract {

		private final OrderTable orders;

		private final HikariDataSource pool;

		PostgresContract(HikariDataSource pool) {
			this.pool = pool;
			this.orders = OrderTable.create(pool, "guarded_order", "uuid");
		}

		@Override
		OrderTable orders() {
			return this.orders;
		}

		@Override
		OrderTable create(String name, String idType) {
			return OrderTable.create(this.pool, name, idType);
		}

		@Override
		String binaryType() {
			return "bytea";
		}

	}

	@Nested
	class ReadCommittedTests extends PostgresContract {

		ReadCommittedTests() {
			super(committed);
		}

	}

	@Nested
	class RepeatableReadTests extends PostgresContract {

		RepeatableReadTests() {
			super(repeatable);
		}

	}

	@Nested
	class SerializableTests extends PostgresContract {

		SerializableTests() {
			super(serializable);
		}

	}

}
