package dev.idempotent.benchmark.http.application;

import java.util.Objects;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.util.Assert;
import tools.jackson.databind.json.JsonMapper;

/**
 * Places an order once for each key: the key and the response commit with the order.
 */
class ResponsesByHand {

	private final JdbcTemplate jdbc;

	private final TransactionOperations transaction;

	private final PlacedOrders placed;

	private final JsonMapper json;

	ResponsesByHand(JdbcTemplate jdbc, TransactionOperations transaction, PlacedOrders placed, JsonMapper json) {
		this.jdbc = jdbc;
		this.transaction = transaction;
		this.placed = placed;
		this.json = json;
	}

	/**
	 * Places the order.
	 * @return the response as JSON
	 */
	String commit(String key, Order order) {
		return Objects.requireNonNull(this.transaction.execute((status) -> {
			int rows = this.jdbc.update("insert into response_by_hand (id) values (?) on conflict do nothing", key);
			Assert.state(rows == 1, "The key is taken");
			String receipt = this.json.writeValueAsString(this.placed.add(order));
			this.jdbc.update("update response_by_hand set response = ? where id = ?", receipt, key);
			return receipt;
		}));
	}

}
