package dev.idempotent.sample.checkout;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.sample.order.Order;
import org.springframework.stereotype.Service;

/**
 * The checkout: an order in the shop's database, a charge of the payment gateway, and
 * points in the points service. Either all three take effect once, or none remains.
 */
@Service
class Checkout {

	private final SagaSteps saga;

	private final CheckoutOrders orders;

	private final CheckoutGateway gateway;

	private final CheckoutPoints points;

	private final Moments moments;

	Checkout(SagaSteps saga, CheckoutOrders orders, CheckoutGateway gateway, CheckoutPoints points, Moments moments) {
		this.saga = saga;
		this.orders = orders;
		this.gateway = gateway;
		this.points = points;
		this.moments = moments;
	}

	@Saga(name = "checkout", timeout = "5m")
	public Receipt place(PlaceCheckout command) {
		this.moments.reach(Moment.AFTER_START, command);
		Order order = this.saga.step("order", Order.class)
			.compensate(this.orders::reject)
			.runInTransaction(() -> this.orders.place(command));
		this.moments.reach(Moment.AFTER_COMMIT, command);
		Charge charge = this.saga.step("payment", Charge.class)
			.compensate((paid) -> this.gateway.refund(paid, command))
			.run(() -> this.gateway.charge(order, command));
		this.saga.step("points").cancel(() -> this.points.cancel(order)).run(() -> this.points.credit(order, command));
		this.moments.reach(Moment.BEFORE_COMPLETE, command);
		return new Receipt(order.orderId(), charge.chargeId(), order.amount());
	}

}
