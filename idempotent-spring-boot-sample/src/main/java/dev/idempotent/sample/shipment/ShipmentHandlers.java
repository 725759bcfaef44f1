package dev.idempotent.sample.shipment;

import java.util.UUID;

import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.sample.checkout.Services;
import dev.idempotent.sample.order.Shipment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * The work that follows a shipment, after its commit.
 */
@Component
class ShipmentHandlers {

	private final JdbcClient jdbc;

	private final Attempts attempts;

	private final RestClient client;

	private final Services services;

	ShipmentHandlers(JdbcClient jdbc, Attempts attempts, RestClient.Builder builder, Services services) {
		this.jdbc = jdbc;
		this.attempts = attempts;
		this.client = builder.build();
		this.services = services;
	}

	/**
	 * Packs one parcel: the row commits together with the removal of the event.
	 */
	@OutboxHandler(type = "order.shipped", name = "pack")
	void pack(Shipment shipment) {
		int attempt = this.attempts.count("pack", shipment);
		this.jdbc.sql("insert into parcel (order_id) values (?)").param(shipment.orderId()).update();
		failIfRequested(attempt, shipment);
	}

	/**
	 * Credits one point. The calls of all attempts carry one key, so that the points
	 * service takes one of them.
	 */
	@OutboxHandler(type = "order.shipped", name = "reward", transactional = false)
	void reward(Shipment shipment) {
		int attempt = this.attempts.count("reward", shipment);
		this.client.post()
			.uri(this.services.points() + "/points/credits")
			.body(new Credit(shipment.userId(), shipment.orderId(), 1))
			.retrieve()
			.toBodilessEntity();
		failIfRequested(attempt, shipment);
	}

	private static void failIfRequested(int attempt, Shipment shipment) {
		if (attempt <= shipment.failures()) {
			throw new IllegalStateException("Failed after its work, as requested by X-Chaos");
		}
	}

	private record Credit(String account, UUID orderId, int points) {

	}

}
