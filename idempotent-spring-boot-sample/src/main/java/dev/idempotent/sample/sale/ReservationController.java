package dev.idempotent.sample.sale;

import java.net.URI;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.sample.order.Order;
import dev.idempotent.sample.stock.CancelOutcome;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/reservations/{id:[0-9a-f]{64}}")
class ReservationController {

	private final Purchases purchases;

	ReservationController(Purchases purchases) {
		this.purchases = purchases;
	}

	@GetMapping
	ReservationView show(@PathVariable String id) {
		return ReservationView.of(this.purchases.find(id));
	}

	/**
	 * Orders the reserved unit. The reservation is the key: it is ordered once, however
	 * many clients request it.
	 */
	@PostMapping("/order")
	@Idempotent(key = "#path.id", guarantee = Guarantee.TRANSACTION, name = "order-reservation")
	ResponseEntity<Order> order(@PathVariable String id) {
		Order order = this.purchases.order(id);
		return ResponseEntity.created(URI.create("/api/orders/" + order.orderId())).body(order);
	}

	@DeleteMapping
	Cancelled cancel(@PathVariable String id) {
		return new Cancelled(this.purchases.cancel(id));
	}

	/**
	 * The response to a cancellation.
	 */
	record Cancelled(CancelOutcome outcome) {

	}

}
