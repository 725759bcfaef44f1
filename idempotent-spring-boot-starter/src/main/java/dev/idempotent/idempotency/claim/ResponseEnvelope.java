package dev.idempotent.idempotency.claim;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import dev.idempotent.encryption.CipherContext;
import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadCipherException;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
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
 * (1 byte), the origin, and the response itself, encrypted or not. Bytes that begin
 * otherwise are a response without an origin. In front of a database, a format, the
 * length of the epoch and the epoch in which it was committed there precede all that.
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
	StoredResponse close(ClaimRequest request, StoredResponse response) {
		PayloadCipher cipher = this.encryption.cipher();
		String origin = request.origin().toText();
		StoredResponse content = (cipher == null) ? response
				: StoredResponse.of(cipher.encrypt(response.bytes(), context(request.key(), origin)));
		byte[] originBytes = origin.getBytes(StandardCharsets.US_ASCII);
		byte[] bytes = new byte[HEADER + originBytes.length + content.size()];
		bytes[0] = (cipher == null) ? PLAIN : ENCRYPTED;
		bytes[1] = (byte) originBytes.length;
		System.arraycopy(originBytes, 0, bytes, HEADER, originBytes.length);
		content.copyTo(bytes, HEADER + originBytes.length);
		return StoredResponse.of(bytes);
	}

	/**
	 * Creates the form for a store in front of a database.
	 * @param stored the form in the database
	 * @param epoch the epoch in which the database has committed it, or {@code null} if
	 * it is not known
	 */
	static StoredResponse committed(StoredResponse stored, @Nullable String epoch) {
		if (epoch == null) {
			return stored;
		}
		byte[] text = epoch.getBytes(StandardCharsets.US_ASCII);
		byte[] bytes = new byte[HEADER + text.length + stored.size()];
		bytes[0] = COMMITTED;
		bytes[1] = (byte) text.length;
		System.arraycopy(text, 0, bytes, HEADER, text.length);
		stored.copyTo(bytes, HEADER + text.length);
		return StoredResponse.of(bytes);
	}

	/**
	 * Reads where the response of a store in front of a database was committed.
	 * @throws IdempotencyStoreException if it is damaged
	 */
	static Commit commit(IdempotencyKey key, StoredResponse stored) {
		try (InputStream bytes = stored.newInputStream()) {
			int format = (byte) bytes.read();
			if (format == COMMITTED) {
				return new Commit(text(key, bytes), null);
			}
			RunOrigin origin = (format == PLAIN || format == ENCRYPTED) ? RunOrigin.parse(text(key, bytes)) : null;
			return new Commit(null, (origin != null) ? origin.guarantee() : null);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Opens the response of a completed claim.
	 */
	Claim open(IdempotencyKey key, Claim claim) {
		return claim.fold((acquired) -> claim, (pending) -> claim,
				(completed) -> new Claim.Completed(open(key, completed.response()).response(),
						completed.remainingRetention()),
				(mismatched) -> claim);
	}

	/**
	 * Reads the stored form.
	 * @throws IdempotencyStoreException if it is damaged, was changed, or is not
	 * encrypted although it must be
	 * @throws IdempotencyStoreUnavailableException if its key is not available
	 */
	Content open(IdempotencyKey key, StoredResponse stored) {
		try (InputStream bytes = stored.newInputStream()) {
			int format = (byte) bytes.read();
			if (format == COMMITTED) {
				return open(key, stored.from(HEADER + text(key, bytes).length()));
			}
			if (format != PLAIN && format != ENCRYPTED) {
				return new Content(plaintext(key, stored), null);
			}
			String origin = text(key, bytes);
			StoredResponse rest = stored.from(HEADER + origin.length());
			StoredResponse response = (format == PLAIN) ? plaintext(key, rest)
					: StoredResponse.of(decrypt(key, origin, rest.bytes()));
			return new Content(response, RunOrigin.parse(origin));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String text(IdempotencyKey key, InputStream bytes) throws IOException {
		int length = bytes.read();
		byte[] text = (length >= 0) ? bytes.readNBytes(length) : new byte[0];
		if (text.length != length) {
			throw new IdempotencyStoreException("The stored response of key " + key + " is truncated", null);
		}
		return new String(text, StandardCharsets.US_ASCII);
	}

	/**
	 * A response that is not kept reveals nothing, and needs no proof.
	 */
	private StoredResponse plaintext(IdempotencyKey key, StoredResponse response) {
		if (response.isKept() && this.encryption.cipher() != null && !this.encryption.readPlaintext()) {
			throw new IdempotencyStoreException("The stored response of key " + key
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
				throw new IdempotencyStoreException(
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
		return CipherContext.of("idempotency-response", key.digest(), origin);
	}

	/**
	 * What an envelope contains.
	 *
	 * @param response the response as the application wrote it
	 * @param origin the origin of its run, or {@code null} if it is unknown
	 */
	record Content(StoredResponse response, @Nullable RunOrigin origin) {
	}

	/**
	 * Where the work of a response was committed.
	 *
	 * @param epoch the epoch of the database, or {@code null} if it is not known
	 * @param guarantee the guarantee of its run, or {@code null} if it is not known; not
	 * read if there is an epoch
	 */
	record Commit(@Nullable String epoch, @Nullable Guarantee guarantee) {
	}

}
