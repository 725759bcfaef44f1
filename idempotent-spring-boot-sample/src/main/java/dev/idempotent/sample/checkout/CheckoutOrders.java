package dev.idempotent.sample.checkout;

import dev.idempotent.sample.order.Order;
import dev.idempotent.sample.order.Orders;
import dev.idempotent.sample.order.PlaceOrder;
import org.springframework.stereotype.Component;

/**
 * The step of a checkout in the shop's own database.
 */
@Component
class CheckoutOrders {

	private final Orders orders;

	private final Moments moments;

	CheckoutOrders(Orders orders, Moments moments) {
		this.orders = orders;
		this.moments = moments;
	}

	Order place(PlaceCheckout command) {
		Order order = this.orders.place(new PlaceOrder(command.userId(), command.item(), command.amount(), null));
		this.moments.reachCommit(command);
		return order;
	}

	void reject(Order order) {
		this.orders.reject(order);
	}

}
