package dev.idempotent.sample.sale;

import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

/**
 * A request for one unit.
 */
record Buyer(@NotNull @Pattern(regexp = OpenSale.NAME) String userId) {

}
