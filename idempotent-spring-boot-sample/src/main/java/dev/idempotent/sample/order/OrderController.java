package dev.idempotent.sample.order;

import java.net.URI;
import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.OnPending;
import jakarta.validation.Valid;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/orders")
class OrderController {

	private final Orders orders;

	OrderController(Orders orders) {
		this.orders = orders;
	}

	@PostMapping
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	ResponseEntity<Order> place(@Valid @RequestBody PlaceOrder command) {
		return placed(command);
	}

	/**
	 * Places an order like {@link #place}, but under {@code Guarantee.LEASE}, to compare
	 * the two after a failure.
	 */
	@PostMapping("/lease")
	@Idempotent(guarantee = Guarantee.LEASE)
	ResponseEntity<Order> placeUnderLease(@Valid @RequestBody PlaceOrder command) {
		return placed(command);
	}

	/**
	 * Places an order like {@link #place}, but a concurrent duplicate waits for the first
	 * response instead of a {@code 409}.
	 */
	@PostMapping("/wait")
	@Idempotent(guarantee = Guarantee.TRANSACTION, onPending = OnPending.WAIT)
	ResponseEntity<Order> placeOrWait(@Valid @RequestBody PlaceOrder command) {
		return placed(command);
	}

	private ResponseEntity<Order> placed(PlaceOrder command) {
		Order order = this.orders.place(command);
		return ResponseEntity.created(URI.create("/api/orders/" + order.orderId())).body(order);
	}

	@PostMapping("/{orderId}/shipment")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	Order ship(@PathVariable UUID orderId) {
		return this.orders.ship(orderId);
	}

	@PostMapping("/{orderId}/cancellation")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	Order cancel(@PathVariable UUID orderId) {
		return this.orders.cancel(orderId);
	}

	@GetMapping("/{orderId}")
	Order get(@PathVariable UUID orderId) {
		return this.orders.get(orderId);
	}

	@GetMapping
	List<Order> placedBy(@RequestParam String userId) {
		return this.orders.placedBy(userId);
	}

}
