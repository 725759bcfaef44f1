package dev.idempotent.sample.shipment;

import java.util.UUID;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/**
 * Counts what the handlers of a shipment have tried and done.
 */
@RestController
class ShipmentController {

	private final JdbcClient jdbc;

	ShipmentController(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	@GetMapping("/api/orders/{orderId}/handlers")
	HandledShipment handled(@PathVariable UUID orderId) {
		return this.jdbc.sql("""
				select count(*) filter (where handler = 'pack') as pack_attempts,
				       (select count(*) from parcel where order_id = :orderId) as parcels,
				       count(*) filter (where handler = 'reward') as reward_attempts
				from handler_attempt where order_id = :orderId
				""").param("orderId", orderId).query(HandledShipment.class).single();
	}

}
