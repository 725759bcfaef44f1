package dev.idempotent.benchmark.state;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.benchmark.Database;
import dev.idempotent.transition.Transitions;
import dev.idempotent.transition.jdbc.GuardedTransitions;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * Orders that are moved to and fro, each by one client at a time.
 */
final class Orders {

	private final Database database;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final GuardedTransitions<Status> guarded;

	private final Queue<Order> idle = new ConcurrentLinkedQueue<>();

	private Orders(DataSource pool, Database database) {
		this.database = database;
		this.jdbc = new JdbcTemplate(pool);
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(pool));
		this.guarded = GuardedTransitions.table(pool, "orders",
				Transitions.of(Status.class).allow(Status.OPEN, Status.HELD).allow(Status.HELD, Status.OPEN).build())
			.build();
	}

	/**
	 * Creates 100 orders for each client.
	 */
	static Orders create(DataSource pool, Database database, int clients) {
		Orders orders = new Orders(pool, database);
		orders.jdbc.execute("create table orders (id bigint primary key, status varchar(20) not null,"
				+ " version bigint not null default 0)");
		for (long id = 0; id < 100L * clients; id++) {
			orders.jdbc.update("insert into orders (id, status) values (?, 'OPEN')", id);
			orders.idle.add(new Order(id, Status.OPEN, Status.HELD));
		}
		return orders;
	}

	/**
	 * The yardstick: the same update without a check of its outcome.
	 */
	void updateOne() {
		moveOne((order) -> this.jdbc.update(
				"update orders set status = ?, version = version + 1 where id = ? and status = ?", order.to().name(),
				order.id(), order.from().name()));
	}

	void moveOne() {
		moveOne((order) -> this.guarded.move(order.id(), order.from(), order.to()).orThrow());
	}

	private void moveOne(Consumer<Order> move) {
		Order order = this.idle.poll();
		Assert.state(order != null, "There are fewer orders than clients");
		this.transaction.executeWithoutResult((status) -> move.accept(order));
		this.idle.add(new Order(order.id(), order.to(), order.from()));
	}

	void tidy() {
		this.database.tidy();
	}

	enum Status {

		OPEN, HELD

	}

	/**
	 * An order that no client moves now.
	 *
	 * @param id the key
	 * @param from its status
	 * @param to its next status
	 */
	private record Order(long id, Status from, Status to) {
	}

}
