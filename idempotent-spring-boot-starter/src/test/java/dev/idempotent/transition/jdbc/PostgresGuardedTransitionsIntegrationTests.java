package dev.idempotent.transition.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;

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

	/**
	 * The statements of moves on PostgreSQL, and its enum types.
	 */
	@Nested
	class Statements {

		private final DataSource pool = postgres.connect();

		private final Watched watched = new Watched(this.pool);

		private final OrderTable orders = OrderTable.create(this.watched, "guarded_row", "bigint");

		@Test
		void areOneForAMoveAndTwoForAConflict() {
			this.orders.insert(1, "PENDING");
			this.orders.move(1, PENDING, PAID);
			assertThat(this.watched.take()).satisfiesExactly((sql) -> assertThat(sql).startsWith("insert"),
					(sql) -> assertThat(sql).startsWith("update guarded_row set status = ?, version = version + 1"));
			this.orders.move(1, PENDING, PAID);
			assertThat(this.watched.take()).satisfiesExactly((sql) -> assertThat(sql).startsWith("update"),
					(sql) -> assertThat(sql).startsWith("select").endsWith("for update"));
		}

		@Test
		void moveARowThatReturnsToTheStateBetweenThem() {
			this.orders.insert(1, "PAID");
			this.watched.beforeLocks = () -> OrderTable.of(this.pool, "guarded_row").move(1, PAID, PENDING).orThrow();
			assertThat(this.orders.move(1, PENDING, PAID).orThrow()).isEqualTo(2);
			assertThat(this.orders.row(1)).isEqualTo("PAID 2");
		}

		@Test
		void moveRowsWithAnEnumTypeOfTheDatabase() {
			this.orders.jdbc().execute("alter table guarded_row drop column status");
			this.orders.jdbc().execute("drop type if exists guarded_status");
			this.orders.jdbc().execute("create type guarded_status as enum ('PENDING', 'PAID', 'SHIPPED', 'CLOSED')");
			this.orders.jdbc().execute("alter table guarded_row add status guarded_status not null default 'PENDING'");
			this.orders.jdbc().update("insert into guarded_row (id) values (1)");
			assertThat(this.orders.move(1, PENDING, PAID).orThrow()).isEqualTo(1);
			assertThat(this.orders.move(1, PENDING, PAID).state()).isSameAs(PAID);
		}

		/**
		 * Records statements, and runs something before those that lock.
		 */
		private static final class Watched extends DelegatingDataSource {

			private final List<String> prepared = new ArrayList<>();

			private Runnable beforeLocks = () -> {
			};

			Watched(DataSource real) {
				super(real);
			}

			List<String> take() {
				List<String> taken = List.copyOf(this.prepared);
				this.prepared.clear();
				return taken;
			}

			@Override
			public Connection getConnection() throws SQLException {
				Connection real = super.getConnection();
				return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							if (method.getName().equals("prepareStatement")) {
								prepare((String) arguments[0]);
							}
							try {
								return method.invoke(real, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getTargetException();
							}
						});
			}

			private void prepare(String sql) {
				this.prepared.add(sql);
				if (sql.endsWith("for update")) {
					CompletableFuture.runAsync(this.beforeLocks).join();
				}
			}

		}

	}

	abstract static class AbstractPostgresTests extends AbstractGuardedTransitionsTests {

		private final OrderTable orders;

		private final HikariDataSource pool;

		AbstractPostgresTests(HikariDataSource pool) {
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
	class ReadCommittedTests extends AbstractPostgresTests {

		ReadCommittedTests() {
			super(committed);
		}

	}

	@Nested
	class RepeatableReadTests extends AbstractPostgresTests {

		RepeatableReadTests() {
			super(repeatable);
		}

	}

	@Nested
	class SerializableTests extends AbstractPostgresTests {

		SerializableTests() {
			super(serializable);
		}

	}

}
