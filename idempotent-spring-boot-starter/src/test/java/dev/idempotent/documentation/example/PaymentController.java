package dev.idempotent.documentation.example;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class PaymentController {

	private final Payments payments;

	PaymentController(Payments payments) {
		this.payments = payments;
	}

	@PostMapping("/payments")
	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@ResponseStatus(HttpStatus.CREATED)
	Receipt pay(@RequestBody Payment payment) {
		return this.payments.capture(payment);
	}

}
