package dev.idempotent.sample.checkout;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import org.jspecify.annotations.Nullable;

/**
 * A request that orders, pays and credits points, one for each item.
 *
 * @param userId the customer
 * @param item what is ordered
 * @param amount the quantity; the points service refuses more than 100 points
 * @param method how it is paid; the gateway declines {@code declined}, the bank confirms
 * a {@code transfer} later, and an {@code invoice} must be approved
 * @param crash where an instance that was started for it crashes, or {@code null} if none
 * does
 * @param delay how long each moment of the checkout takes, in milliseconds, so that it
 * can be watched; {@code null} for no time
 */
public record PlaceCheckout(@NotBlank String userId, @NotBlank String item, @Min(1) int amount, @NotBlank String method,
		@Nullable Moment crash, @Min(0) @Max(3000) @Nullable Integer delay) {

}
