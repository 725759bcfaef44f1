package dev.idempotent.encryption;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import dev.idempotent.encryption.PayloadCipherException.Reason;
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

	/**
	 * Decrypts what was stored encrypted.
	 * @param encrypted what the cipher of an instance has returned
	 * @param context the context that was given to the cipher
	 * @return the data
	 * @throws PayloadCipherException if it cannot be decrypted, also if there is no
	 * cipher or it fails otherwise: another instance may succeed
	 */
	public byte[] decrypt(byte[] encrypted, byte[] context) {
		if (this.cipher == null) {
			throw new PayloadCipherException(Reason.KEY_UNAVAILABLE,
					"this application has no key. Set idempotent.encryption.keys", null);
		}
		try {
			return this.cipher.decrypt(encrypted, context);
		}
		catch (PayloadCipherException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			// Its message could contain data.
			throw new PayloadCipherException(Reason.KEY_UNAVAILABLE,
					"the cipher has failed with " + ex.getClass().getName(), ex);
		}
	}

	/**
	 * Builds the context that binds encrypted data to its record. It differs for any
	 * other list of values.
	 * @param kind what the record is, such as {@code outbox-event}, so that the data of
	 * one kind of record is not accepted in another
	 * @param values what identifies the record, in a fixed order, each can be
	 * {@code null}
	 * @return each value in UTF-8 after its length in 4 bytes, which is -1 for
	 * {@code null}
	 */
	public static byte[] context(String kind, @Nullable String... values) {
		ByteArrayOutputStream context = new ByteArrayOutputStream();
		add(context, kind);
		for (String value : values) {
			add(context, value);
		}
		return context.toByteArray();
	}

	private static void add(ByteArrayOutputStream context, @Nullable String value) {
		byte[] bytes = (value != null) ? value.getBytes(StandardCharsets.UTF_8) : new byte[0];
		context.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt((value != null) ? bytes.length : -1).array());
		context.writeBytes(bytes);
	}

}
