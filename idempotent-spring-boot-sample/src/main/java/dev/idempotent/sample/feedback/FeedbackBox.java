package dev.idempotent.sample.feedback;

import java.util.UUID;

import dev.idempotent.sample.chaos.Chaos;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * The feedback of customers.
 */
@Service
class FeedbackBox {

	private final JdbcClient jdbc;

	private final Chaos chaos;

	FeedbackBox(JdbcClient jdbc, Chaos chaos) {
		this.jdbc = jdbc;
		this.chaos = chaos;
	}

	@Transactional
	FeedbackReceipt take(GiveFeedback command) {
		FeedbackReceipt receipt = new FeedbackReceipt(UUID.randomUUID());
		this.jdbc.sql("insert into feedback (feedback_id, user_id, text) values (:id, :userId, :text)")
			.param("id", receipt.feedbackId())
			.param("userId", command.userId())
			.param("text", command.text())
			.update();
		this.chaos.strike();
		return receipt;
	}

}
