package dev.idempotent.sample.order;

import java.util.List;
import java.util.Objects;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.transition.Transitions;
import dev.idempotent.transition.jdbc.GuardedTransitions;
import dev.idempotent.transition.jdbc.TransitionResult;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The orders of the shop.
 */
@Service
public class Orders {

	private static final Transitions<OrderStatus> TRANSITIONS = Transitions.of(OrderStatus.class)
		.allow(OrderStatus.CREATED, OrderStatus.PAID, OrderStatus.CANCELLED, OrderStatus.REJECTED)
		.allow(OrderStatus.PAID, OrderStatus.SHIPPED)
		.build();

	private final GuardedTransitions<OrderStatus> rows;

	private final JdbcClient jdbc;

	private final Outbox outbox;

	private final Chaos chaos;

	Orders(DataSource dataSource, JdbcClient jdbc, Outbox outbox, Chaos chaos) {
		this.rows = GuardedTransitions.table(dataSource, "orders", TRANSITIONS).id("order_id").build();
		this.jdbc = jdbc;
		this.outbox = outbox;
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
	 * Marks an order as paid, and locks its row until the caller's transaction ends, so
	 * that concurrent moves of the order wait.
	 * @throws OrderConflictException if it is not {@link OrderStatus#CREATED}
	 * @throws UnknownOrderException if there is none
	 */
	@Transactional
	public void markPaid(UUID orderId) {
		move(orderId, OrderStatus.CREATED, OrderStatus.PAID);
	}

	/**
	 * Ships a paid order. Its events are published, and handled in the shop itself, if
	 * the transaction commits.
	 * @throws OrderConflictException if it is not {@link OrderStatus#PAID}
	 * @throws UnknownOrderException if there is none
	 */
	@Transactional
	@TransactionalOutbox(type = "order.shipped", key = "#orderId")
	Order ship(UUID orderId) {
		Order order = move(orderId, OrderStatus.PAID, OrderStatus.SHIPPED);
		Shipment shipment = new Shipment(orderId, order.userId(), this.chaos.failuresOfHandlers());
		this.outbox.append(OutboxEvent.of("order.shipped", shipment).toTopic("handlers").withKey(orderId.toString()));
		this.chaos.strike();
		return order;
	}

	/**
	 * Cancels an order that is not paid. Its event is published if the transaction
	 * commits.
	 * @throws OrderConflictException if it is not {@link OrderStatus#CREATED}
	 * @throws UnknownOrderException if there is none
	 */
	@Transactional
	@TransactionalOutbox(type = "order.cancelled", key = "#orderId")
	Order cancel(UUID orderId) {
		Order order = move(orderId, OrderStatus.CREATED, OrderStatus.CANCELLED);
		this.chaos.strike();
		return order;
	}

	/**
	 * Rejects an order that was placed. Its event is published if the transaction
	 * commits.
	 * @return the rejected order
	 * @throws OrderConflictException if it is not {@link OrderStatus#CREATED}
	 */
	@Transactional
	@TransactionalOutbox(type = "order.rejected", key = "#order.orderId")
	public Order reject(Order order) {
		return move(order.orderId(), OrderStatus.CREATED, OrderStatus.REJECTED);
	}

	private Order move(UUID orderId, OrderStatus from, OrderStatus to) {
		TransitionResult<OrderStatus> moved = this.rows.move(orderId, from, to);
		return switch (moved.outcome()) {
			case APPLIED -> get(orderId);
			case CONFLICT -> throw new OrderConflictException(Objects.requireNonNull(moved.state()), to);
			case ABSENT -> throw new UnknownOrderException();
		};
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
	 * Requires an order to be one of a user.
	 * @throws UnknownOrderException if the user has no order with the given id
	 */
	public void requirePlacedBy(UUID orderId, String userId) {
		if (!get(orderId).userId().equals(userId)) {
			throw new UnknownOrderException();
		}
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

}
