package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import org.assertj.core.api.Condition;

/**
 * Keys that no other test has, and what goes with them.
 */
public final class Samples {

	private Samples() {
	}

	public static IdempotencyKey key() {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "samples", "", "", UUID.randomUUID().toString());
	}

	public static Fingerprint fingerprint(String request) {
		return Fingerprint.of(List.of(request.getBytes(StandardCharsets.UTF_8)));
	}

	public static StoredResponse response(String text) {
		return StoredResponse.of(text.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * What a claim on a key with this response comes to, for whatever time it is kept.
	 */
	public static Condition<Claim> completed(StoredResponse response) {
		return new Condition<>(
				(claim) -> claim instanceof Claim.Completed completed && completed.response().equals(response),
				"completed with %s", response);
	}

}
