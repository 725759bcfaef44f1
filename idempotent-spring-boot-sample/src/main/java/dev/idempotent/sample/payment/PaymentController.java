package dev.idempotent.sample.payment;

import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.validation.Valid;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class PaymentController {

	private final Payments payments;

	PaymentController(Payments payments) {
		this.payments = payments;
	}

	@PostMapping("/api/orders/{orderId}/payment")
	@Idempotent(guarantee = Guarantee.LEASE)
	Payment pay(@PathVariable UUID orderId, @Valid @RequestBody PayOrder command) {
		return this.payments.pay(orderId, command);
	}

}
