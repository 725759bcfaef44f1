package dev.idempotent.sample.gateway;

import dev.idempotent.idempotency.Idempotent;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class GatewayController {

	private final ChargeBook book;

	GatewayController(ChargeBook book) {
		this.book = book;
	}

	/**
	 * Declines the payment method {@code declined} and accepts all others.
	 */
	@PostMapping("/gateway/charges")
	@Idempotent
	Charge charge(@RequestBody ChargeOrder command) {
		return this.book.enter(command.orderId(), !command.method().equals("declined"));
	}

}
