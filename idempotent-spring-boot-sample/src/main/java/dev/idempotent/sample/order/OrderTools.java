package dev.idempotent.sample.order;

import java.util.Objects;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.tool.ToolCallerResolver;
import dev.idempotent.sample.chaos.ChaosHeader;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.McpTool.McpAnnotations;
import org.springframework.ai.mcp.annotation.McpToolParam;
import org.springframework.stereotype.Component;
import org.springframework.validation.annotation.Validated;

/**
 * What agents do with orders. The customer of an order is the caller of the tool.
 */
@Component
@Validated
class OrderTools {

	private final Orders orders;

	private final ToolCallerResolver customers;

	private final ChaosHeader chaos;

	OrderTools(Orders orders, ToolCallerResolver customers, ChaosHeader chaos) {
		this.orders = orders;
		this.customers = customers;
		this.chaos = chaos;
	}

	@McpTool(name = "placeOrder",
			description = "Places an order. Repeating a call with the same arguments returns the same order.",
			annotations = @McpAnnotations(idempotentHint = true))
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "place-order-tool",
			guarantee = Guarantee.TRANSACTION)
	Order place(@McpToolParam(description = "What to order") @NotBlank String item,
			@McpToolParam(description = "How many, at least 1") @Min(1) int amount) throws InterruptedException {
		this.chaos.apply();
		return this.orders.place(new PlaceOrder(customer(), item, amount, null));
	}

	@McpTool(name = "cancelOrder", description = "Cancels an order that is not paid. Repeating a call has no effect.",
			annotations = @McpAnnotations(idempotentHint = true))
	@Idempotent(from = KeySource.TOOL_CALL, window = "15m", name = "cancel-order-tool",
			guarantee = Guarantee.TRANSACTION)
	Order cancel(@McpToolParam(description = "The id of the order") UUID orderId) throws InterruptedException {
		this.chaos.apply();
		this.orders.requirePlacedBy(orderId, customer());
		return this.orders.cancel(orderId);
	}

	private String customer() {
		return Objects.requireNonNull(this.customers.resolveCaller());
	}

}
