package dev.idempotent.token;

import java.security.GeneralSecurityException;
import java.util.regex.Pattern;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that signs one-time tokens with HMAC-SHA256.
 */
public final class TokenSecret {

	/**
	 * The length of the shortest secret in bytes.
	 */
	public static final int MIN_BYTES = 32;

	private static final String ALGORITHM = "HmacSHA256";

	private static final Pattern ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,31}");

	private final String id;

	private final SecretKeySpec key;

	/**
	 * Creates a secret.
	 * @param id the id, which tokens contain in plain text
	 * @param bytes at least 32 random bytes; copied
	 * @throws IllegalArgumentException if the id is not valid, or there are fewer bytes
	 */
	public TokenSecret(String id, byte[] bytes) {
		if (!isId(id)) {
			throw new IllegalArgumentException(
					"The id of a secret must have 1 to 32 lower-case letters, digits and dashes");
		}
		if (bytes.length < MIN_BYTES) {
			throw new IllegalArgumentException("The secret " + id + " must have at least " + MIN_BYTES + " bytes");
		}
		this.id = id;
		this.key = new SecretKeySpec(bytes, ALGORITHM);
	}

	/**
	 * Returns whether an id is valid.
	 * @param id the id
	 * @return whether it has 1 to 32 lower-case letters, digits and dashes, and does not
	 * begin with a dash
	 */
	public static boolean isId(String id) {
		return ID.matcher(id).matches();
	}

	String id() {
		return this.id;
	}

	/**
	 * Creates a MAC, which is not thread-safe.
	 */
	Mac mac() {
		try {
			Mac mac = Mac.getInstance(ALGORITHM);
			mac.init(this.key);
			return mac;
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("Every Java platform has " + ALGORITHM, ex);
		}
	}

	/**
	 * Returns the id, without the secret.
	 */
	@Override
	public String toString() {
		return this.id;
	}

}
