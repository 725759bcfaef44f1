package dev.idempotent.sample.payment;

import java.util.Objects;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.tool.ToolCallerResolver;
import dev.idempotent.sample.chaos.ChaosHeader;
import dev.idempotent.sample.order.Orders;
import jakarta.validation.constraints.NotBlank;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.McpTool.McpAnnotations;
import org.springframework.ai.mcp.annotation.McpToolParam;
import org.springframework.stereotype.Component;
import org.springframework.validation.annotation.Validated;

/**
 * What agents do with payments. The id of an order is not a permission: a model may have
 * read the id of another customer's order.
 */
@Component
@Validated
class PaymentTools {

	private final Payments payments;

	private final Orders orders;

	private final ToolCallerResolver customers;

	private final ChaosHeader chaos;

	PaymentTools(Payments payments, Orders orders, ToolCallerResolver customers, ChaosHeader chaos) {
		this.payments = payments;
		this.orders = orders;
		this.customers = customers;
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
		this.orders.requirePlacedBy(orderId, Objects.requireNonNull(this.customers.resolveCaller()));
		return this.payments.pay(orderId, new PayOrder(method));
	}

}
