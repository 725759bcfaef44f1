package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The stored form of an idempotency key: a digest that reveals neither the client's key
 * nor its owner, so it is safe to log. Keys that differ in kind, namespace, scope or
 * operation never collide.
 *
 * @param digest 64 lower-case hexadecimal digits
 */
public record IdempotencyKey(String digest) {

	private static final String FORMAT = "1";

	/**
	 * Digests a key together with everything that distinguishes it from equal keys.
	 * @param kind the origin of the key
	 * @param namespace the application
	 * @param scope the owner of the key
	 * @param operation the operation name; empty for {@link Kind#HEADER}
	 * @param key the key itself
	 * @return the stored form
	 * @throws IllegalArgumentException if the operation or the key has half of a
	 * character, such as {@code substring} leaves of an emoji
	 */
	public static IdempotencyKey of(Kind kind, String namespace, String scope, String operation, String key) {
		if (!isWhole(operation) || !isWhole(key)) {
			throw new IllegalArgumentException(
					"The idempotency key, or the name of its operation or step, contains half of "
							+ "a character (an unpaired surrogate): do not cut a text within a character");
		}
		return new IdempotencyKey(LengthPrefixedDigest.of(FORMAT, kind.name().toLowerCase(Locale.ROOT), namespace,
				scope, operation, key));
	}

	/**
	 * Creates an encoder only for a text that has surrogates.
	 */
	private static boolean isWhole(String text) {
		return !LengthPrefixedDigest.hasSurrogate(text) || StandardCharsets.UTF_8.newEncoder().canEncode(text);
	}

	@Override
	public String toString() {
		return this.digest;
	}

	/**
	 * The origin of a key.
	 */
	public enum Kind {

		/**
		 * A request header.
		 */
		HEADER,

		/**
		 * The fingerprint of the request.
		 */
		FINGERPRINT,

		/**
		 * An expression over the request.
		 */
		EXPRESSION,

		/**
		 * The serial of a one-time token. It has no scope, because the token is bound to
		 * its caller.
		 */
		TOKEN,

		/**
		 * The arguments of a method, or a key stated in code.
		 */
		METHOD,

		/**
		 * What a client has sent as the key of a tool's call.
		 */
		TOOL_CALL,

		/**
		 * A saga, or the action or undo of one of its steps.
		 */
		SAGA,

		/**
		 * The name of a step of a run; the operation is the digest of the run's key.
		 */
		STEP

	}

}
