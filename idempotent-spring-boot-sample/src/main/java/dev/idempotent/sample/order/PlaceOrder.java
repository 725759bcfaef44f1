package dev.idempotent.sample.order;

import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;

/**
 * A request that places an order.
 */
public record PlaceOrder(@NotBlank String userId, @NotBlank String item, @Min(1) int amount, @Nullable String note) {

}
