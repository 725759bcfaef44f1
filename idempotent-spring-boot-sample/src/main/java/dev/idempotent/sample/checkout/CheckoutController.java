package dev.idempotent.sample.checkout;

import java.net.URI;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Sagas;
import jakarta.validation.Valid;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/checkout")
class CheckoutController {

	private final Checkout checkout;

	private final Sagas sagas;

	CheckoutController(Checkout checkout, Sagas sagas) {
		this.checkout = checkout;
		this.sagas = sagas;
	}

	/**
	 * Responds when the checkout is complete or undone.
	 */
	@PostMapping
	@Idempotent(guarantee = Guarantee.LEASE)
	Receipt place(@Valid @RequestBody PlaceCheckout command) {
		return this.checkout.place(command);
	}

	/**
	 * Responds when the checkout is started: it will be finished or undone.
	 */
	@PostMapping("/start")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	ResponseEntity<Started> start(@Valid @RequestBody PlaceCheckout command) {
		IdempotencyKey id = this.sagas.start(() -> this.checkout.place(command));
		return ResponseEntity.accepted()
			.location(URI.create("/api/checkout/" + id.digest()))
			.body(new Started(id.digest()));
	}

	@GetMapping("/{id}")
	CheckoutView get(@PathVariable String id) {
		return this.sagas.find(new IdempotencyKey(id)).map(CheckoutView::of).orElseThrow(UnknownCheckoutException::new);
	}

	/**
	 * Approves a payment by invoice.
	 */
	@PostMapping("/{id}/approval")
	Told approve(@PathVariable String id) {
		get(id);
		return new Told(this.sagas.signal(new IdempotencyKey(id), Checkout.APPROVED).name());
	}

	/**
	 * Cancels a checkout: what it has done is undone, unless it has ended.
	 */
	@PostMapping("/{id}/cancellation")
	Told cancel(@PathVariable String id) {
		return this.sagas.cancel(new IdempotencyKey(id), "The customer has cancelled")
			.map((status) -> new Told(status.name()))
			.orElseThrow(UnknownCheckoutException::new);
	}

	/**
	 * What has become of a signal or a cancellation.
	 *
	 * @param result the name of a {@code SignalResult} or of a {@code SagaStatus}
	 */
	record Told(String result) {

	}

	/**
	 * The response to a checkout that is started.
	 *
	 * @param id the id under which it is found
	 */
	record Started(String id) {

	}

}
