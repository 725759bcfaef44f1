package dev.idempotent.sample.payment;

import java.util.UUID;

import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.sample.chaos.Chaos;
import dev.idempotent.sample.order.OrderStatus;
import dev.idempotent.sample.order.Orders;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The payments of the shop.
 */
@Service
class Payments {

	private final Orders orders;

	private final PaymentGateway gateway;

	private final JdbcClient jdbc;

	private final Chaos chaos;

	Payments(Orders orders, PaymentGateway gateway, JdbcClient jdbc, Chaos chaos) {
		this.orders = orders;
		this.gateway = gateway;
		this.jdbc = jdbc;
		this.chaos = chaos;
	}

	@Transactional
	@TransactionalOutbox(type = "order.paid", key = "#orderId")
	Payment pay(UUID orderId, PayOrder command) {
		// First the order, then the charge: a payment with another key waits here until
		// this one ends, and calls the gateway only if this one is rolled back.
		this.orders.markPaid(orderId);
		if (!this.gateway.charge(orderId, command.method())) {
			throw new PaymentDeclinedException();
		}
		Payment payment = new Payment(orderId, UUID.randomUUID(), OrderStatus.PAID);
		this.jdbc.sql("insert into payments (payment_id, order_id, method) values (:paymentId, :orderId, :method)")
			.param("paymentId", payment.paymentId())
			.param("orderId", orderId)
			.param("method", command.method())
			.update();
		this.chaos.strike();
		return payment;
	}

}
