package dev.idempotent.sample.payment;

import jakarta.validation.constraints.NotBlank;

/**
 * What a client sends to pay an order. The gateway declines the method {@code declined}
 * and takes every other.
 */
record PayOrder(@NotBlank String method) {

}
