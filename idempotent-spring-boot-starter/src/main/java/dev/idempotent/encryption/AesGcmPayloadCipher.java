package dev.idempotent.encryption;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

import dev.idempotent.encryption.PayloadCipherException.Reason;

/**
 * AES-GCM with 256-bit keys and a random 96-bit IV for each message. The format is the
 * version (1 byte: 1), the length of the key's id (1 byte), the id (ASCII), the IV (12
 * bytes), and the encrypted data with its tag (16 bytes). Everything before the IV is
 * authenticated, followed by the context.
 */
public final class AesGcmPayloadCipher implements PayloadCipher {

	/**
	 * The length of a key in bytes.
	 */
	public static final int KEY_BYTES = 32;

	private static final Pattern KEY_ID = Pattern.compile("[a-z0-9][a-z0-9-]{0,31}");

	private static final byte VERSION = 1;

	private static final int IV_BYTES = 12;

	private static final int TAG_BYTES = 16;

	private final SecureRandom random = new SecureRandom();

	private final Map<String, SecretKey> keys;

	private final SecretKey activeKey;

	private final byte[] activeHeader;

	/**
	 * Creates a cipher.
	 * @param keys 32 bytes by id; copied
	 * @param activeKey the id of the key that encrypts; the others only decrypt
	 * @throws IllegalArgumentException if an id is not valid, a key does not have 32
	 * bytes, or the active key is missing
	 */
	public AesGcmPayloadCipher(Map<String, byte[]> keys, String activeKey) {
		keys.forEach(AesGcmPayloadCipher::check);
		this.keys = keys.entrySet()
			.stream()
			.collect(
					Collectors.toUnmodifiableMap(Map.Entry::getKey, (key) -> new SecretKeySpec(key.getValue(), "AES")));
		SecretKey active = this.keys.get(activeKey);
		if (active == null) {
			throw new IllegalArgumentException("There is no key with the id of the active key");
		}
		this.activeKey = active;
		this.activeHeader = header(activeKey);
	}

	/**
	 * Whether an id of a key is valid.
	 * @param id the id
	 * @return whether it has 1 to 32 lower-case letters, digits and dashes, and does not
	 * begin with a dash
	 */
	public static boolean isKeyId(String id) {
		return KEY_ID.matcher(id).matches();
	}

	@Override
	public byte[] encrypt(byte[] plain, byte[] context) {
		byte[] iv = new byte[IV_BYTES];
		this.random.nextBytes(iv);
		int before = this.activeHeader.length + IV_BYTES;
		try {
			byte[] encrypted = new byte[Math.addExact(before + TAG_BYTES, plain.length)];
			ByteBuffer.wrap(encrypted).put(this.activeHeader).put(iv);
			cipher(Cipher.ENCRYPT_MODE, this.activeKey, iv, this.activeHeader, context).doFinal(plain, 0, plain.length,
					encrypted, before);
			return encrypted;
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("AES-GCM is not available", ex);
		}
	}

	@Override
	public byte[] decrypt(byte[] encrypted, byte[] context) {
		String keyId = keyId(encrypted);
		SecretKey key = this.keys.get(keyId);
		if (key == null) {
			throw new PayloadCipherException(Reason.KEY_UNAVAILABLE,
					"It is encrypted with the key " + keyId + ", which is not configured", null);
		}
		byte[] header = header(keyId);
		byte[] iv = new byte[IV_BYTES];
		System.arraycopy(encrypted, header.length, iv, 0, IV_BYTES);
		int before = header.length + IV_BYTES;
		try {
			return cipher(Cipher.DECRYPT_MODE, key, iv, header, context).doFinal(encrypted, before,
					encrypted.length - before);
		}
		catch (AEADBadTagException ex) {
			throw new PayloadCipherException(Reason.NOT_AUTHENTIC,
					"It was changed, belongs to another record, or was encrypted with another key of the id " + keyId,
					ex);
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException("AES-GCM is not available", ex);
		}
	}

	private static Cipher cipher(int mode, SecretKey key, byte[] iv, byte[] header, byte[] context)
			throws GeneralSecurityException {
		Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
		cipher.init(mode, key, new GCMParameterSpec(TAG_BYTES * Byte.SIZE, iv));
		cipher.updateAAD(header);
		cipher.updateAAD(context);
		return cipher;
	}

	/**
	 * Reads the id of the key. It is valid, and header, IV and tag are complete.
	 */
	private static String keyId(byte[] encrypted) {
		if (encrypted.length < 2 || encrypted[0] != VERSION) {
			throw malformed();
		}
		int length = Byte.toUnsignedInt(encrypted[1]);
		if (encrypted.length < 2 + length + IV_BYTES + TAG_BYTES) {
			throw malformed();
		}
		String keyId = new String(encrypted, 2, length, StandardCharsets.ISO_8859_1);
		if (!isKeyId(keyId)) {
			throw malformed();
		}
		return keyId;
	}

	private static byte[] header(String keyId) {
		byte[] id = keyId.getBytes(StandardCharsets.ISO_8859_1);
		return ByteBuffer.allocate(2 + id.length).put(VERSION).put((byte) id.length).put(id).array();
	}

	private static PayloadCipherException malformed() {
		return new PayloadCipherException(Reason.NOT_AUTHENTIC, "It is damaged, or not in the format of this cipher",
				null);
	}

	private static void check(String id, byte[] key) {
		if (!isKeyId(id)) {
			throw new IllegalArgumentException(
					"The id of a key must have 1 to 32 lower-case letters, digits and dashes");
		}
		if (key.length != KEY_BYTES) {
			throw new IllegalArgumentException("The key " + id + " must have " + KEY_BYTES + " bytes");
		}
	}

}
