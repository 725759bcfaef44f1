package dev.idempotent.sample.checkout;

import java.time.Duration;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.sample.order.Order;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Service;

/**
 * The checkout: an order in the shop's database, a charge of the payment gateway, and
 * points in the points service. Either all three take effect once, or none remains. One
 * that is paid by invoice waits for an approval, and one that is paid by transfer for the
 * bank, which reports by a webhook that the customer has confirmed the payment.
 */
@Service
class Checkout {

	/**
	 * The signal of the bank.
	 */
	static final String CONFIRMED = "confirmed";

	/**
	 * The signal of who approves payments by invoice.
	 */
	static final String APPROVED = "approved";

	private static final Logger logger = LoggerFactory.getLogger(Checkout.class);

	private static final String BY_TRANSFER = "transfer";

	private static final String BY_INVOICE = "invoice";

	private static final Duration PATIENCE = Duration.ofMinutes(2);

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
		if (command.method().equals(BY_TRANSFER)) {
			BankReport report = this.saga.await(CONFIRMED, BankReport.class).within(PATIENCE);
			logger.info("The bank has confirmed the payment {}", report.reference());
		}
		if (command.method().equals(BY_INVOICE)) {
			this.saga.await(APPROVED).within(PATIENCE);
		}
		Charge charge = this.saga.step("payment", Charge.class)
			.compensate((paid) -> this.gateway.refund(paid, command))
			.run(() -> this.gateway.charge(order, command));
		this.saga.step("points").cancel(() -> this.points.cancel(order)).run(() -> this.points.credit(order, command));
		this.moments.reach(Moment.BEFORE_COMPLETE, command);
		return new Receipt(order.orderId(), charge.chargeId(), order.amount());
	}

}
