package dev.idempotent.sample.feedback;

import jakarta.validation.constraints.NotBlank;

/**
 * A request that gives feedback.
 */
record GiveFeedback(@NotBlank String userId, @NotBlank String text) {

}
