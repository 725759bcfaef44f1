package dev.idempotent.benchmark.http.application;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The work of a handler with a database: one statement.
 */
class PlacedOrders {

	private final JdbcTemplate jdbc;

	PlacedOrders(JdbcTemplate jdbc) {
		this.jdbc = jdbc;
	}

	Receipt add(Order order) {
		this.jdbc.update("insert into placed (customer, items) values (?, ?)", order.customer(), order.lines().size());
		return Receipt.of(order);
	}

}
