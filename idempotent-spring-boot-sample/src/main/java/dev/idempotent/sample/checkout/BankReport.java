package dev.idempotent.sample.checkout;

import jakarta.validation.constraints.NotBlank;

/**
 * What the bank reports by its webhook: the customer has confirmed the payment of a
 * checkout. It may report that more than once.
 *
 * @param id the id of the event, the same each time
 * @param checkout the id of the checkout
 * @param reference the number of the payment at the bank
 */
record BankReport(@NotBlank String id, @NotBlank String checkout, @NotBlank String reference) {

}
