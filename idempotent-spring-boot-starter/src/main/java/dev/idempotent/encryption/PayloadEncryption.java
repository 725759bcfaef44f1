package dev.idempotent.encryption;

import org.jspecify.annotations.Nullable;

/**
 * How the application protects what it stores.
 *
 * @param cipher encrypts everything that is stored from now on, or {@code null} if
 * nothing is encrypted
 * @param readPlaintext whether data that is not encrypted is accepted when it is read
 */
public record PayloadEncryption(@Nullable PayloadCipher cipher, boolean readPlaintext) {

	/**
	 * Nothing is encrypted.
	 */
	public static final PayloadEncryption NONE = new PayloadEncryption(null, true);

}
