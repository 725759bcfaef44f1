package dev.idempotent.transition.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transition.jdbc.OrderTable.OrderStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.Transactional;

import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.CLOSED;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PAID;
import static dev.idempotent.transition.jdbc.OrderTable.OrderStatus.PENDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Moves under {@code Guarantee.TRANSACTION}, with an event for each.
 */
class RepeatedMovesIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static final DyingConnections connections = new DyingConnections();

	@SuppressWarnings("NullAway.Init")
	private static ConfigurableApplicationContext application;

	@SuppressWarnings("NullAway.Init")
	private static OrderTable orders;

	@SuppressWarnings("NullAway.Init")
	private static JdbcClient database;

	private UUID id = UUID.randomUUID();

	private final Payments payments = application.getBean(Payments.class);

	@BeforeAll
	static void start() {
		DataSource pool = postgres.connect();
		orders = OrderTable.create(pool, "moved_order", "uuid");
		database = JdbcClient.create(pool);
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(List.of("idempotent.outbox.relay.enabled=false", "idempotent.outbox.table-prefix=moved_",
				"idempotent.store=jdbc", "idempotent.jdbc.initialize-schema=always"));
		application = OutboxApplication.start(properties, Moves.class);
	}

	@AfterAll
	static void close() {
		application.close();
	}

	@BeforeEach
	void insert() {
		orders.insert(this.id, "PENDING");
	}

	@Test
	void replayTheirFirstResult() {
		assertThat(this.payments.pay("first", this.id)).isEqualTo(1);
		assertThat(this.payments.pay("first", this.id)).isEqualTo(1);
		orders.move(this.id, PAID, OrderStatus.SHIPPED).orThrow();
		assertThat(this.payments.pay("first", this.id)).isEqualTo(1);
		assertThat(orders.row(this.id)).isEqualTo("SHIPPED 2");
		assertThat(events()).isOne();
	}

	@Test
	void appendNoEventAndFreeTheKeyOnAConflict() {
		orders.move(this.id, PENDING, CLOSED).orThrow();
		assertThatExceptionOfType(OptimisticLockingFailureException.class)
			.isThrownBy(() -> this.payments.pay("conflict", this.id));
		assertThat(events()).isZero();
		orders.jdbc().update("update moved_order set status = 'PENDING' where id = ?", this.id);
		assertThat(this.payments.pay("conflict", this.id)).isEqualTo(2);
		assertThat(events()).isOne();
	}

	@Test
	void appendNoEventAndFreeTheKeyIfTheRowIsAbsent() {
		orders.jdbc().update("delete from moved_order where id = ?", this.id);
		assertThatExceptionOfType(EmptyResultDataAccessException.class)
			.isThrownBy(() -> this.payments.pay("absent", this.id));
		assertThat(events()).isZero();
		insert();
		assertThat(this.payments.pay("absent", this.id)).isEqualTo(1);
	}

	/**
	 * Kills the connection before each statement, before the commit, and after it.
	 */
	@Test
	void happenOnceTogetherWithTheirEventThoughTheConnectionDies() {
		int death = 0;
		boolean died = true;
		while (died) {
			this.id = UUID.randomUUID();
			insert();
			String key = "death-" + death;
			connections.dieAt(death);
			try {
				assertThat(this.payments.pay(key, this.id)).isEqualTo(1);
			}
			catch (RuntimeException ex) {
				assertThat(connections.hasDied()).isTrue();
			}
			died = connections.hasDied();
			connections.live();
			assertThat(orders.row(this.id)).isEqualTo((events() == 1) ? "PAID 1" : "PENDING 0");
			assertThat(this.payments.pay(key, this.id)).isEqualTo(1);
			assertThat(orders.row(this.id)).isEqualTo("PAID 1");
			assertThat(events()).isOne();
			death++;
		}
		assertThat(death).isGreaterThan(5);
	}

	private long events() {
		return database.sql("select count(*) from moved_event where event_key = :id")
			.param("id", this.id.toString())
			.query(Long.class)
			.single();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportMethods
	static class Moves {

		@Bean
		static DyingConnections connections() {
			return connections;
		}

		@Bean
		GuardedTransitions<OrderStatus> orders(DataSource dataSource) {
			return GuardedTransitions.table(dataSource, "moved_order", OrderStatus.TRANSITIONS).build();
		}

		@Bean
		Payments payments(GuardedTransitions<OrderStatus> orders) {
			return new Payments(orders);
		}

	}

	static class Payments {

		private final GuardedTransitions<OrderStatus> orders;

		Payments(GuardedTransitions<OrderStatus> orders) {
			this.orders = orders;
		}

		@Transactional
		@Idempotent(key = "#payment", guarantee = Guarantee.TRANSACTION, name = "payments.pay")
		@TransactionalOutbox(type = "order.paid", key = "#order")
		public long pay(String payment, UUID order) {
			return this.orders.move(order, PENDING, PAID).orThrow();
		}

	}

	/**
	 * Lets PostgreSQL end the session of a connection before a chosen statement, before
	 * the commit, or after it.
	 */
	private static final class DyingConnections implements BeanPostProcessor {

		private int steps = Integer.MAX_VALUE;

		private boolean died;

		/**
		 * Ends the session at a step from now on.
		 */
		synchronized void dieAt(int step) {
			this.steps = step;
			this.died = false;
		}

		synchronized void live() {
			dieAt(Integer.MAX_VALUE);
		}

		synchronized boolean hasDied() {
			return this.died;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new Dying(real) : bean;
		}

		private synchronized boolean isNext() {
			boolean next = this.steps-- == 0;
			this.died |= next;
			return next;
		}

		private final class Dying extends DelegatingDataSource {

			Dying(DataSource real) {
				super(real);
			}

			@Override
			public Connection getConnection() throws SQLException {
				Connection real = super.getConnection();
				return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
						new Class<?>[] { Connection.class },
						(proxy, method, arguments) -> call(real, method, arguments));
			}

			private Object call(Connection real, Method method, Object[] arguments) throws Throwable {
				boolean commit = method.getName().equals("commit");
				if ((commit || method.getName().equals("prepareStatement")) && isNext()) {
					end(real);
				}
				try {
					Object result = method.invoke(real, arguments);
					if (commit && isNext()) {
						throw new SQLException("The reply to the commit is lost", "08006");
					}
					return result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getTargetException();
				}
			}

			private void end(Connection connection) throws SQLException {
				try (Connection other = super.getConnection();
						Statement own = connection.createStatement();
						Statement killer = other.createStatement();
						ResultSet row = own.executeQuery("select pg_backend_pid()")) {
					row.next();
					killer.execute("select pg_terminate_backend(%d, 60000)".formatted(row.getInt(1)));
				}
			}

		}

	}

}
