package dev.idempotent.test;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.StoredResponse;
import org.assertj.core.api.Condition;

/**
 * Unique keys, and values to use with them.
 */
final class Samples {

	private Samples() {
	}

	static IdempotencyKey key() {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "contract", "", "", UUID.randomUUID().toString());
	}

	static Fingerprint fingerprint(String request) {
		return Fingerprint.of(List.of(request.getBytes(StandardCharsets.UTF_8)));
	}

	static StoredResponse response(String text) {
		return StoredResponse.of(text.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Matches the outcome of a claim on a key with this response, regardless of its
	 * retention.
	 */
	static Condition<Claim> completed(StoredResponse response) {
		return new Condition<>(
				(claim) -> claim instanceof Claim.Completed completed && completed.response().equals(response),
				"completed with %s", response);
	}

}
