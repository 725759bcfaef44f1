package dev.idempotent.sample.checkout;

import java.util.UUID;

import dev.idempotent.sample.order.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The step of a checkout at the points service, which can cancel a credit that it has
 * never received.
 */
@Component
class CheckoutPoints {

	private final RestClient client;

	private final Services services;

	private final Moments moments;

	CheckoutPoints(RestClient.Builder builder, Services services, Moments moments) {
		this.client = builder.build();
		this.services = services;
		this.moments = moments;
	}

	void credit(Order order, PlaceCheckout command) {
		post("/points/credits", new Credit(order.userId(), order.orderId(), order.amount()));
		this.moments.reach(Moment.AFTER_CREDIT, command);
	}

	void cancel(Order order) {
		post("/points/cancellations", new Cancellation(order.orderId()));
	}

	/**
	 * Returns the points of a customer, none without a points service.
	 */
	Balance balance(String userId) {
		if (!this.services.hasPoints()) {
			return new Balance(0, 0, 0);
		}
		return this.client.get()
			.uri(this.services.points() + "/points/accounts/{account}", userId)
			.retrieve()
			.requiredBody(Balance.class);
	}

	private void post(String path, Object body) {
		this.client.post().uri(this.services.points() + path).body(body).retrieve().toBodilessEntity();
	}

	private record Credit(String account, UUID orderId, int points) {

	}

	private record Cancellation(UUID orderId) {

	}

	/**
	 * The points service's response about an account.
	 */
	record Balance(long points, long credits, long cancelled) {

	}

}
