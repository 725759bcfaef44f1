package dev.idempotent.idempotency.web.webhook;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class PaymentWebhook {

	private final Payments payments;

	PaymentWebhook(Payments payments) {
		this.payments = payments;
	}

	@PostMapping("/webhooks/payments")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	@Idempotent(key = "#body.id", ignore = "*", name = "payment-webhook", retention = "7d")
	void receive(@RequestBody PaymentEvent event) {
		this.payments.settle(event.paymentId());
	}

	record PaymentEvent(String id, String paymentId) {
	}

}
