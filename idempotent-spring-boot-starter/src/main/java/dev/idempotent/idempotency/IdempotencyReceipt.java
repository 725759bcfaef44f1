package dev.idempotent.idempotency;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The receipt of a service for a request with an idempotency key: a header of the
 * response that no gateway can answer with, because it is derived from the key. Sent with
 * the response of the request, whatever its status, and with each replay. A response that
 * says nothing of the outcome, such as that to a request in progress, has {@value #OPEN}
 * instead.
 */
public final class IdempotencyReceipt {

	/**
	 * The name of the header.
	 */
	public static final String HEADER = "Idempotency-Receipt";

	/**
	 * The value of the header while the outcome is open.
	 */
	public static final String OPEN = "open";

	private static final String PREFIX = "idempotency-receipt:";

	private IdempotencyReceipt() {
	}

	/**
	 * Returns the receipt for a key: the SHA-256 digest of
	 * {@code idempotency-receipt:<key>} in UTF-8.
	 * @param key the key as the client has chosen it, without the quotes of a header
	 * @return 64 lower-case hexadecimal digits
	 */
	public static String of(String key) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			return HexFormat.of().formatHex(digest.digest((PREFIX + key).getBytes(StandardCharsets.UTF_8)));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
