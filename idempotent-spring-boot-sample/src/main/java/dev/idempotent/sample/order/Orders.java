package dev.idempotent.sample.order;

import java.util.List;
import java.util.UUID;

import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.sample.chaos.Chaos;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The orders of the shop.
 */
@Service
public class Orders {

	private final JdbcClient jdbc;

	private final Chaos chaos;

	Orders(JdbcClient jdbc, Chaos chaos) {
		this.jdbc = jdbc;
		this.chaos = chaos;
	}

	/**
	 * Places an order. Its event is published if the transaction commits.
	 */
	@Transactional
	@TransactionalOutbox(type = "order.created", key = "#result.orderId")
	public Order place(PlaceOrder command) {
		Order order = this.jdbc.sql("""
				insert into orders (order_id, user_id, item, amount, note)
				values (:id, :userId, :item, :amount, :note)
				returning order_id, user_id, item, amount, status, created_at
				""")
			.param("id", UUID.randomUUID())
			.param("userId", command.userId())
			.param("item", command.item())
			.param("amount", command.amount())
			.param("note", command.note())
			.query(Order.class)
			.single();
		this.chaos.strike();
		return order;
	}

	/**
	 * Rejects an order that was placed. Its event is published if the transaction
	 * commits.
	 * @return the rejected order
	 */
	@Transactional
	@TransactionalOutbox(type = "order.rejected", key = "#order.orderId")
	public Order reject(Order order) {
		return this.jdbc.sql("""
				update orders set status = 'REJECTED' where order_id = :id
				returning order_id, user_id, item, amount, status, created_at
				""").param("id", order.orderId()).query(Order.class).single();
	}

	/**
	 * Returns the order with the given id.
	 * @throws UnknownOrderException if there is none
	 */
	public Order get(UUID orderId) {
		return this.jdbc.sql("""
				select order_id, user_id, item, amount, status, created_at from orders where order_id = :id
				""").param("id", orderId).query(Order.class).optional().orElseThrow(UnknownOrderException::new);
	}

	/**
	 * Returns the orders of a user, the newest first.
	 */
	public List<Order> placedBy(String userId) {
		return this.jdbc.sql("""
				select order_id, user_id, item, amount, status, created_at from orders
				where user_id = :userId order by created_at desc, order_id
				""").param("userId", userId).query(Order.class).list();
	}

	/**
	 * Marks an order as paid unless it is, and locks its row until the caller's
	 * transaction ends, so that concurrent payments of the order wait.
	 * @return whether this call has marked it
	 */
	@Transactional
	public boolean markPaid(UUID orderId) {
		return this.jdbc.sql("update orders set status = 'PAID' where order_id = :id and status = 'CREATED'")
			.param("id", orderId)
			.update() == 1;
	}

}
