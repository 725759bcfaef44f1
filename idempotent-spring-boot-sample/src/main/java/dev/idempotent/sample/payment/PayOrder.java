package dev.idempotent.sample.payment;

import jakarta.validation.constraints.NotBlank;

/**
 * A request that pays an order. The gateway declines the method {@code declined} and
 * accepts all others.
 */
record PayOrder(@NotBlank String method) {

}
