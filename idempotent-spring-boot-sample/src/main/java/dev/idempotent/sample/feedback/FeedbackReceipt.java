package dev.idempotent.sample.feedback;

import java.util.UUID;

/**
 * The answer to feedback that was taken.
 */
record FeedbackReceipt(UUID feedbackId) {

}
