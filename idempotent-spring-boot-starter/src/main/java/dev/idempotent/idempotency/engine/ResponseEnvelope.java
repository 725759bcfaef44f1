package dev.idempotent.idempotency.engine;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadCipherException;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stored form of a response: a format (1 byte), the length of the origin of its run
 * (1 byte), the origin, and the response itself, encrypted or not. In front of a
 * database, a format, the length of the epoch and the epoch in which it was committed
 * there precede all that. A response that is not kept may have no bytes at all.
 */
final class ResponseEnvelope {

	private static final Logger logger = LoggerFactory.getLogger(ResponseEnvelope.class);

	/**
	 * These begin neither a captured HTTP response nor JSON text.
	 */
	private static final byte PLAIN = (byte) 0xE1;

	private static final byte ENCRYPTED = (byte) 0xE2;

	private static final byte COMMITTED = (byte) 0xE3;

	private static final int HEADER = 2;

	private final PayloadEncryption encryption;

	ResponseEnvelope(PayloadEncryption encryption) {
		this.encryption = encryption;
	}

	/**
	 * Creates the stored form.
	 * @throws PayloadCipherException if the response cannot be encrypted
	 */
	StoredResponse encrypt(ClaimRequest request, StoredResponse response) {
		PayloadCipher cipher = this.encryption.cipher();
		String origin = request.origin().toText();
		StoredResponse content = (cipher == null) ? response
				: StoredResponse.of(cipher.encrypt(response.bytes(), context(request.key(), origin)));
		return prepend((cipher == null) ? PLAIN : ENCRYPTED, origin, content);
	}

	/**
	 * Creates the stored form of a response to work that is done, so that a failure to
	 * encrypt it must not free the key.
	 */
	StoredResponse encryptOrDrop(ClaimRequest request, StoredResponse response) {
		try {
			return encrypt(request, response);
		}
		// A library of a cipher may be missing. The message could contain a part of the
		// response.
		catch (RuntimeException | Error ex) {
			logger.error(
					"The response of key {} could not be encrypted ({}); only the fact that the work was done is stored",
					request.key(), ex.getClass().getName());
			logger.debug("The stack trace of the failure above", ex);
			return StoredResponse.notKept();
		}
	}

	/**
	 * Creates the form for a store in front of a database.
	 * @param stored the form in the database
	 * @param epoch the epoch in which the database has committed it, or {@code null} if
	 * it is not known
	 */
	static StoredResponse withEpoch(StoredResponse stored, @Nullable String epoch) {
		return (epoch != null) ? prepend(COMMITTED, epoch, stored) : stored;
	}

	private static StoredResponse prepend(byte format, String text, StoredResponse rest) {
		byte[] header = text.getBytes(StandardCharsets.US_ASCII);
		byte[] bytes = new byte[HEADER + header.length + rest.size()];
		bytes[0] = format;
		bytes[1] = (byte) header.length;
		System.arraycopy(header, 0, bytes, HEADER, header.length);
		rest.copyTo(bytes, HEADER + header.length);
		return StoredResponse.of(bytes);
	}

	/**
	 * Reads the epoch of the database in which the response was committed.
	 * @return the epoch, or {@code null} if it is not known
	 * @throws IdempotencyStoreException if the stored form is damaged
	 */
	static @Nullable String epoch(IdempotencyKey key, StoredResponse stored) {
		return (formatOf(stored) == COMMITTED) ? text(key, stored) : null;
	}

	/**
	 * Reads the origin of the run that made the response.
	 * @return the origin, or {@code null} if it is not known
	 * @throws IdempotencyStoreException if the stored form is damaged
	 */
	static @Nullable RunOrigin origin(IdempotencyKey key, StoredResponse stored) {
		StoredResponse committed = withoutEpoch(key, stored);
		return isEnvelope(committed) ? RunOrigin.parse(text(key, committed)) : null;
	}

	/**
	 * Reads the response as the application wrote it.
	 * @throws IdempotencyStoreException if it is damaged, was changed, or is not
	 * encrypted although it must be
	 * @throws IdempotencyStoreUnavailableException if its key is not available
	 */
	StoredResponse decrypt(IdempotencyKey key, StoredResponse stored) {
		StoredResponse committed = withoutEpoch(key, stored);
		if (!committed.isKept()) {
			return committed;
		}
		if (!isEnvelope(committed)) {
			throw new UnreadableResponseException("The stored response of key " + key + " is damaged", null);
		}
		String origin = text(key, committed);
		StoredResponse rest = committed.from(HEADER + origin.length());
		return (formatOf(committed) == PLAIN) ? plaintext(key, rest)
				: StoredResponse.of(decrypt(key, origin, rest.bytes()));
	}

	private static boolean isEnvelope(StoredResponse stored) {
		byte format = formatOf(stored);
		return format == PLAIN || format == ENCRYPTED;
	}

	private static StoredResponse withoutEpoch(IdempotencyKey key, StoredResponse stored) {
		return (formatOf(stored) == COMMITTED) ? stored.from(HEADER + text(key, stored).length()) : stored;
	}

	/**
	 * Returns the first byte.
	 */
	private static byte formatOf(StoredResponse stored) {
		try (InputStream bytes = stored.newInputStream()) {
			return (byte) bytes.read();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the text behind the format.
	 */
	private static String text(IdempotencyKey key, StoredResponse stored) {
		try (InputStream bytes = stored.newInputStream()) {
			bytes.skipNBytes(1);
			int length = bytes.read();
			byte[] text = (length >= 0) ? bytes.readNBytes(length) : new byte[0];
			if (text.length != length) {
				throw new UnreadableResponseException("The stored response of key " + key + " is truncated", null);
			}
			return new String(text, StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A response that is not kept reveals nothing, and needs no proof.
	 */
	private StoredResponse plaintext(IdempotencyKey key, StoredResponse response) {
		if (response.isKept() && this.encryption.cipher() != null && !this.encryption.readPlaintext()) {
			throw new UnreadableResponseException("The stored response of key " + key
					+ " is not encrypted. If it is from before the encryption was switched on, set "
					+ "idempotent.encryption.read-plaintext=true until the retention has passed", null);
		}
		return response;
	}

	private byte[] decrypt(IdempotencyKey key, String origin, byte[] encrypted) {
		try {
			return this.encryption.decrypt(encrypted, context(key, origin));
		}
		catch (PayloadCipherException ex) {
			if (ex.reason() == PayloadCipherException.Reason.NOT_AUTHENTIC) {
				throw new UnreadableResponseException(
						"The stored response of key " + key + " cannot be decrypted: " + ex.getMessage(), ex);
			}
			throw unavailable(key, ex);
		}
	}

	/**
	 * Another instance may have the key, such as while the encryption is switched on.
	 */
	private static IdempotencyStoreUnavailableException unavailable(IdempotencyKey key, PayloadCipherException cause) {
		String message = "The stored response of key " + key + " cannot be decrypted: " + cause.getMessage();
		logger.error(message);
		logger.debug("The stack trace of the failure above", cause);
		return new IdempotencyStoreUnavailableException(message, (cause.getCause() != null) ? cause.getCause() : cause);
	}

	private static byte[] context(IdempotencyKey key, String origin) {
		return PayloadEncryption.context("idempotency-response", key.digest(), origin);
	}

}
