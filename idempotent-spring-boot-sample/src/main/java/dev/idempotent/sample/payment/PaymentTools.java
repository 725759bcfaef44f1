package dev.idempotent.sample.payment;

import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.sample.chaos.ChaosHeader;
import jakarta.validation.constraints.NotBlank;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.McpTool.McpAnnotations;
import org.springframework.ai.mcp.annotation.McpToolParam;
import org.springframework.stereotype.Component;
import org.springframework.validation.annotation.Validated;

/**
 * What agents do with payments.
 */
@Component
@Validated
class PaymentTools {

	private final Payments payments;

	private final ChaosHeader chaos;

	PaymentTools(Payments payments, ChaosHeader chaos) {
		this.payments = payments;
		this.chaos = chaos;
	}

	@McpTool(name = "payOrder",
			description = "Pays an order. Repeating a call with the same arguments does not charge again.",
			annotations = @McpAnnotations(idempotentHint = true))
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "pay-order-tool", guarantee = Guarantee.LEASE)
	Payment pay(@McpToolParam(description = "The id of the order") UUID orderId,
			@McpToolParam(description = "The method of payment, such as card") @NotBlank String method)
			throws InterruptedException {
		this.chaos.apply();
		return this.payments.pay(orderId, new PayOrder(method));
	}

}
