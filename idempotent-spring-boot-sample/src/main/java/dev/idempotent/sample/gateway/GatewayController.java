package dev.idempotent.sample.gateway;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class GatewayController {

	private final ChargeBook book;

	private final RefundDesk refunds;

	GatewayController(ChargeBook book, RefundDesk refunds) {
		this.book = book;
		this.refunds = refunds;
	}

	/**
	 * Declines the payment method {@code declined} and accepts all others.
	 */
	@PostMapping("/gateway/charges")
	@Idempotent(guarantee = Guarantee.LEASE)
	Charge charge(@RequestBody ChargeOrder command) {
		return this.book.enter(command.orderId(), !command.method().equals("declined"));
	}

	/**
	 * Refunds a charge, unless the gateway refuses refunds.
	 */
	@PostMapping("/gateway/refunds")
	@Idempotent(guarantee = Guarantee.LEASE)
	Refund refund(@RequestBody RefundOrder command) {
		if (!this.refunds.isOpen()) {
			throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT);
		}
		return this.book.refund(command.chargeId());
	}

}
