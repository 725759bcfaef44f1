package dev.idempotent.sample.feedback;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import jakarta.validation.Valid;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class FeedbackController {

	private final FeedbackBox box;

	FeedbackController(FeedbackBox box) {
		this.box = box;
	}

	@PostMapping("/api/feedback")
	@ResponseStatus(HttpStatus.ACCEPTED)
	@Idempotent(from = KeySource.FINGERPRINT, guarantee = Guarantee.LEASE, retention = "1m", name = "give-feedback")
	FeedbackReceipt give(@Valid @RequestBody GiveFeedback command) {
		return this.box.take(command);
	}

}
