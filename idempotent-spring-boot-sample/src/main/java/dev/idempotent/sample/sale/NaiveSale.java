package dev.idempotent.sample.sale;

import dev.idempotent.sample.order.Order;
import dev.idempotent.sample.order.Orders;
import dev.idempotent.sample.order.PlaceOrder;
import dev.idempotent.sample.stock.FlashSale;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The flash sale without a gate, for comparison: all buyers update one row. It never
 * sells a unit twice either, but buyers wait for one another, and each refusal costs a
 * transaction.
 */
@Service
class NaiveSale {

	private final JdbcClient jdbc;

	private final Orders orders;

	NaiveSale(JdbcClient jdbc, Orders orders) {
		this.jdbc = jdbc;
		this.orders = orders;
	}

	/**
	 * Opens the naive sale of an item beside its flash sale, with as many units.
	 */
	@Transactional
	void open(FlashSale sale) {
		this.jdbc.sql("insert into naive_stock (item, stock) values (:item, :stock)")
			.param("item", sale.item())
			.param("stock", sale.stock())
			.update();
	}

	/**
	 * Sells one unit. The stock is updated first, because most buyers find none.
	 */
	@Transactional
	Order buy(String item, String userId) {
		int units = this.jdbc.sql("update naive_stock set stock = stock - 1 where item = :item and stock >= 1")
			.param("item", item)
			.update();
		if (units == 0) {
			throw Refusal.SOLD_OUT.exception();
		}
		// A name of its own, because the verdict compares the orders of an item with its
		// reservations.
		return this.orders.place(new PlaceOrder(userId, "naive " + item, 1, null));
	}

}
