package dev.idempotent.sample.feedback;

import java.util.UUID;

/**
 * The response to accepted feedback.
 */
record FeedbackReceipt(UUID feedbackId) {

}
