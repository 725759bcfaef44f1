package dev.idempotent.transition.jdbc;

import java.util.UUID;
import java.util.function.Supplier;

import javax.sql.DataSource;

import dev.idempotent.jdbc.Database;
import dev.idempotent.transition.Transitions;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A table of orders.
 */
final class OrderTable {

	private final String name;

	private final JdbcTemplate jdbc;

	private final Database database;

	private final TransactionTemplate transaction;

	private final GuardedTransitions<OrderStatus> guarded;

	private OrderTable(DataSource dataSource, String name) {
		this.name = name;
		this.jdbc = new JdbcTemplate(dataSource);
		this.database = this.jdbc
			.execute((ConnectionCallback<Database>) (connection) -> Database.of(connection, "The orders of tests", ""));
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
		this.guarded = GuardedTransitions.table(dataSource, name, OrderStatus.TRANSITIONS).build();
	}

	/**
	 * A table that has been created.
	 */
	static OrderTable of(DataSource dataSource, String name) {
		return new OrderTable(dataSource, name);
	}

	/**
	 * Creates an empty table.
	 * @param idType the type of its primary key
	 */
	static OrderTable create(DataSource dataSource, String name, String idType) {
		OrderTable table = of(dataSource, name);
		table.jdbc.execute("drop table if exists " + name);
		table.jdbc.execute("create table " + name + " (id " + idType
				+ " primary key, status varchar(20) not null, version bigint default 0)");
		return table;
	}

	JdbcTemplate jdbc() {
		return this.jdbc;
	}

	GuardedTransitions<OrderStatus> guarded() {
		return this.guarded;
	}

	void insert(Object id, String status) {
		this.jdbc.update("insert into " + this.name + " (id, status) values (?, ?)", parameter(id), status);
	}

	/**
	 * The state and the version of a row.
	 */
	String row(Object id) {
		return this.jdbc.queryForObject("select status, version from " + this.name + " where id = ?",
				(row, number) -> row.getString(1) + " " + row.getLong(2), parameter(id));
	}

	TransitionResult<OrderStatus> move(Object id, OrderStatus from, OrderStatus to) {
		return inTransaction(() -> this.guarded.move(id, from, to));
	}

	TransitionResult<OrderStatus> move(Object id, OrderStatus from, OrderStatus to, long version) {
		return inTransaction(() -> this.guarded.move(id, from, to, version));
	}

	/**
	 * Repeats a transaction that conflicts with another one, as an application would.
	 */
	<T> T inTransaction(Supplier<T> work) {
		while (true) {
			try {
				return this.transaction.execute((status) -> work.get());
			}
			catch (PessimisticLockingFailureException ex) {
				// Repeated, at the isolation of the pool.
			}
		}
	}

	private Object parameter(Object id) {
		return (id instanceof UUID uuid) ? this.database.parameter(uuid) : id;
	}

	/**
	 * The states of the orders of the tests.
	 */
	enum OrderStatus {

		PENDING, PAID, SHIPPED, CLOSED;

		/**
		 * A payment can be reverted, after which the order is as before.
		 */
		static final Transitions<OrderStatus> TRANSITIONS = Transitions.of(OrderStatus.class)
			.allow(PENDING, PAID, CLOSED)
			.allow(PAID, PENDING, SHIPPED)
			.build();

	}

}
