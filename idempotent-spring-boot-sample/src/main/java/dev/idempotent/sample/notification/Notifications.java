package dev.idempotent.sample.notification;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The notifications of customers about their orders.
 */
@Service
class Notifications {

	private final JdbcClient jdbc;

	Notifications(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Writes one notification for an event; events of other types are ignored. The
	 * event's id is committed together with it.
	 */
	@Transactional
	@Idempotent(key = "#headers['ce_id']", ignore = "headers", guarantee = Guarantee.TRANSACTION, name = "notify")
	void on(OrderEvent event, Map<String, String> headers) {
		EventHeaders header = EventHeaders.of(headers);
		switch (header.type()) {
			case "order.created" -> write(header, event, event.amount() + " × " + event.item() + " ordered");
			case "order.paid" -> write(header, event, "Order paid");
			case "order.shipped" -> write(header, event, "Order shipped");
			case "order.cancelled" -> write(header, event, "Order cancelled");
			case "order.rejected" -> write(header, event, "Order rejected");
			default -> {
			}
		}
	}

	private void write(EventHeaders header, OrderEvent event, String text) {
		this.jdbc.sql("""
				insert into notification (event_id, order_id, type, text) values (:eventId, :orderId, :type, :text)
				""")
			.param("eventId", header.id())
			.param("orderId", event.orderId())
			.param("type", header.type())
			.param("text", text)
			.update();
	}

	/**
	 * Returns the handled events about an order, the oldest first.
	 */
	List<HandledEvent> handled(UUID orderId) {
		return this.jdbc.sql("""
				select event_id, type, order_id, created_at as handled_at from notification
				where order_id = :orderId order by notification_id
				""").param("orderId", orderId).query(HandledEvent.class).list();
	}

}
