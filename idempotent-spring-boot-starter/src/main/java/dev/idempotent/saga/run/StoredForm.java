package dev.idempotent.saga.run;

import java.util.Arrays;

import dev.idempotent.encryption.CipherContext;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadCipherException;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;

/**
 * The stored form of arguments and results: one byte that states whether the rest is
 * encrypted, and the rest, which is bound to its saga and its place there.
 */
final class StoredForm {

	/**
	 * The place of the arguments.
	 */
	static final String ARGUMENTS = "arguments";

	/**
	 * The place of the result of the saga.
	 */
	static final String RESULT = "result";

	private static final byte PLAIN = 1;

	private static final byte ENCRYPTED = 2;

	private final PayloadEncryption encryption;

	StoredForm(PayloadEncryption encryption) {
		this.encryption = encryption;
	}

	/**
	 * The place of a step's result.
	 */
	static String resultOf(String step) {
		return "step:" + step;
	}

	byte[] close(byte[] plain, IdempotencyKey id, String place) {
		PayloadCipher cipher = this.encryption.cipher();
		return (cipher != null) ? marked(ENCRYPTED, cipher.encrypt(plain, context(id, place))) : marked(PLAIN, plain);
	}

	/**
	 * Reads the stored form.
	 * @throws SagaDefinition.UnreadableException if it cannot be read
	 */
	byte[] open(byte[] stored, IdempotencyKey id, String place) {
		byte[] rest = (stored.length > 0) ? Arrays.copyOfRange(stored, 1, stored.length) : stored;
		if (stored.length > 0 && stored[0] == PLAIN && this.encryption.readPlaintext()) {
			return rest;
		}
		PayloadCipher cipher = this.encryption.cipher();
		if (stored.length == 0 || stored[0] != ENCRYPTED || cipher == null) {
			throw new SagaDefinition.UnreadableException("The format of the stored " + place
					+ " is not accepted by this instance: check idempotent.encryption", null);
		}
		try {
			return cipher.decrypt(rest, context(id, place));
		}
		catch (PayloadCipherException ex) {
			throw new SagaDefinition.UnreadableException(
					"The stored " + place + " cannot be decrypted: " + ex.getMessage(), ex);
		}
	}

	private static byte[] context(IdempotencyKey id, String place) {
		return CipherContext.of("saga", id.digest(), place);
	}

	private static byte[] marked(byte mark, byte[] rest) {
		byte[] stored = new byte[rest.length + 1];
		stored[0] = mark;
		System.arraycopy(rest, 0, stored, 1, rest.length);
		return stored;
	}

}
