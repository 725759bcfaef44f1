package dev.idempotent.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import org.assertj.core.api.Condition;

/**
 * Unique keys, and values to use with them.
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

	public static RunDescription run() {
		return new RunDescription("sample", "1@here", false);
	}

	public static IdempotencyObserver.Operation operation() {
		return new IdempotencyObserver.Operation(IdempotencyObserver.Operation.Kind.METHOD, "sample", Guarantee.LEASE);
	}

	/**
	 * Matches the outcome of a claim on a key with this response, regardless of its
	 * retention, and of the origin that its stored form contains.
	 */
	public static Condition<Claim> completed(StoredResponse response) {
		return new Condition<>(
				(claim) -> claim instanceof Claim.Completed completed && isFormOf(completed.response(), response),
				"completed with %s", response);
	}

	private static boolean isFormOf(StoredResponse stored, StoredResponse response) {
		ByteBuffer bytes = ByteBuffer.wrap(stored.bytes());
		if (bytes.hasRemaining() && bytes.get() == (byte) 0xE1) {
			bytes.position(2 + bytes.get());
			return bytes.equals(ByteBuffer.wrap(response.bytes()));
		}
		return stored.equals(response);
	}

}
