package dev.idempotent.documentation.example;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.stereotype.Component;

@Component
class PaymentTools {

	private final Payments payments;

	PaymentTools(Payments payments) {
		this.payments = payments;
	}

	@Tool(description = "Pays a booking. Repeating a call with the same arguments does not charge again.")
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "pay-booking", guarantee = Guarantee.TRANSACTION)
	Receipt payBooking(String booking, int amount) {
		return this.payments.capture(new Payment(booking, amount));
	}

}
