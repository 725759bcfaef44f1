package dev.idempotent.sample.checkout;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Sagas;
import jakarta.validation.Valid;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives the webhooks of the bank. A shop that is not a sample checks their signature.
 */
@RestController
@RequestMapping("/api/bank")
class BankController {

	private final Sagas sagas;

	BankController(Sagas sagas) {
		this.sagas = sagas;
	}

	/**
	 * The signal commits with the key of the event, so that an event counts once, and is
	 * not lost after it was accepted.
	 */
	@PostMapping("/reports")
	@Idempotent(key = "#body.id", ignore = "*", name = "bank-report", guarantee = Guarantee.TRANSACTION)
	CheckoutController.Told report(@Valid @RequestBody BankReport report) {
		return new CheckoutController.Told(
				this.sagas.signal(new IdempotencyKey(report.checkout()), Checkout.CONFIRMED, report).name());
	}

}
