package dev.idempotent.sample.feedback;

import jakarta.validation.constraints.NotBlank;

/**
 * What a client sends to give feedback.
 */
record GiveFeedback(@NotBlank String userId, @NotBlank String text) {

}
