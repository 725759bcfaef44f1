package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The stored form of an idempotency key: a digest from which neither the client's key nor
 * its owner can be read, so it is safe to log. Keys of different kind, namespace, scope
 * or operation never meet.
 *
 * @param digest 64 lower-case hexadecimal digits
 */
public record IdempotencyKey(String digest) {

	private static final String FORMAT = "1";

	/**
	 * Digests a key together with everything that sets it apart from equal keys.
	 * @param kind where the key came from
	 * @param namespace the application
	 * @param scope whose key it is
	 * @param operation what a derived key stands for; empty for {@link Kind#HEADER}
	 * @param key the key itself
	 * @return the stored form
	 */
	public static IdempotencyKey of(Kind kind, String namespace, String scope, String operation, String key) {
		List<byte[]> parts = Stream.of(FORMAT, kind.name().toLowerCase(Locale.ROOT), namespace, scope, operation, key)
			.map((part) -> part.getBytes(StandardCharsets.UTF_8))
			.toList();
		return new IdempotencyKey(LengthPrefixedDigest.of(parts));
	}

	@Override
	public String toString() {
		return this.digest;
	}

	/**
	 * Where a key came from.
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
		 * A method's arguments, a message, or code.
		 */
		METHOD

	}

}
