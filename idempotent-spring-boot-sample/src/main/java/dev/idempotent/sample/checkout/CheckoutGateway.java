package dev.idempotent.sample.checkout;

import java.util.UUID;

import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.sample.order.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The step of a checkout at the payment gateway. Its calls carry idempotency keys that
 * are derived from the key of the step, so the gateway charges and refunds once, however
 * often a step is repeated.
 */
@Component
class CheckoutGateway {

	private final RestClient client;

	private final Services services;

	private final Moments moments;

	CheckoutGateway(RestClient.Builder builder, Services services, Moments moments) {
		this.client = builder.build();
		this.services = services;
		this.moments = moments;
	}

	Charge charge(Order order, PlaceCheckout command) {
		this.moments.reach(Moment.BEFORE_CALL, command);
		Charge charge = post("/gateway/charges", new ChargeOrder(order.orderId(), command.method()), Charge.class);
		this.moments.reach(Moment.AFTER_CALL, command);
		if (!charge.approved()) {
			throw new StepRefusedException("The gateway declined the card");
		}
		return charge;
	}

	void refund(Charge charge, PlaceCheckout command) {
		post("/gateway/refunds", new RefundOrder(charge.chargeId()), Refund.class);
		this.moments.reach(Moment.IN_COMPENSATION, command);
	}

	private <T> T post(String path, Object body, Class<T> type) {
		return this.client.post().uri(this.services.gateway() + path).body(body).retrieve().requiredBody(type);
	}

	private record ChargeOrder(UUID orderId, String method) {

	}

	private record RefundOrder(long chargeId) {

	}

	private record Refund(long refundId) {

	}

}
