package dev.idempotent.benchmark.outbox;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.benchmark.Application;
import dev.idempotent.benchmark.Database;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The application that every contender is put into: a pool, a table of orders, and a
 * transaction that inserts one.
 */
final class Shop implements AutoCloseable {

	/**
	 * The table of orders.
	 */
	static final String ORDERS = "orders";

	private static final String CREATE = "create table orders (number bigint primary key, customer text not null,"
			+ " email text not null, total_cents bigint not null, placed_at timestamp not null default current_timestamp)";

	private static final String INSERT = "insert into orders (number, customer, email, total_cents) values (?, ?, ?, ?)";

	private static final AtomicLong numbers = new AtomicLong();

	private final Database database;

	private final Application application;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	private Shop(Database database, Application application) {
		this.database = database;
		this.application = application;
		this.jdbc = application.bean(JdbcTemplate.class);
		this.transactions = application.bean(TransactionTemplate.class);
	}

	static Shop open(String name, Servers servers, Class<?> source, String... properties) {
		Database database = servers.databases().apply(name);
		database.sql().execute(CREATE);
		return open(name, database, servers, source, properties);
	}

	/**
	 * Opens another instance of a shop on its database.
	 */
	Shop another(String name, Servers servers, Class<?> source, String... properties) {
		return open(name, this.database, servers, source, properties);
	}

	private static Shop open(String name, Database database, Servers servers, Class<?> source, String... properties) {
		Set<String> all = new LinkedHashSet<>(database.properties());
		all.addAll(servers.redis().properties());
		all.addAll(List.of("idempotent.namespace=" + name,
				"spring.datasource.hikari.maximum-pool-size=" + servers.poolSize()));
		all.addAll(List.of(properties));
		return new Shop(database, Application.start(source, all));
	}

	/**
	 * Places an order.
	 * @param inTransaction is given it before the transaction commits
	 * @return the order's number
	 */
	long place(Consumer<OrderPlaced> inTransaction) {
		OrderPlaced order = OrderPlaced.numbered(numbers.incrementAndGet());
		this.transactions.executeWithoutResult((status) -> {
			this.jdbc.update(INSERT, order.number(), order.customer(), order.email(), order.totalCents());
			inTransaction.accept(order);
		});
		return order.number();
	}

	/**
	 * How often rows other than orders have been written.
	 * @param instances all shops on this database
	 */
	static long otherRowWrites(List<Shop> instances) {
		return instances.get(0).database.rowWritesBeside(
				instances.stream().map((shop) -> shop.application.bean(HikariDataSource.class)).toList(), ORDERS);
	}

	Database database() {
		return this.database;
	}

	Application application() {
		return this.application;
	}

	@Override
	public void close() {
		this.application.close();
	}

}
