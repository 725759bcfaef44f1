package dev.idempotent.token;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

import org.jspecify.annotations.Nullable;

/**
 * The content of a one-time token: base64url without padding of version, bound, length of
 * the secret's id (1 byte each), id (ASCII), expiry in seconds since 1970 (8 bytes),
 * serial (16 random bytes) and signature (32 bytes).
 *
 * @param bound whether only one caller may use it
 * @param secretId the id of the secret that has signed it
 * @param expiry when it expires, to the second
 * @param serial the random part
 * @param signature the signature; empty in a token that is to be signed
 */
@SuppressWarnings("ArrayRecordComponent")
record TokenFormat(boolean bound, String secretId, Instant expiry, byte[] serial, byte[] signature) {

	static final int SERIAL_BYTES = 16;

	private static final byte VERSION = 1;

	private static final int SIGNATURE_BYTES = 32;

	private static final int FIXED_BYTES = 3 + Long.BYTES + SERIAL_BYTES + SIGNATURE_BYTES;

	private static final Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();

	/**
	 * Reads a token, whose signature is not verified.
	 * @return {@code null} if the text is not a token, or not in its canonical form
	 */
	static @Nullable TokenFormat parse(String text) {
		byte[] bytes = decode(text);
		if (bytes == null || bytes.length < FIXED_BYTES || bytes[0] != VERSION || (bytes[1] & ~1) != 0
				|| bytes.length != FIXED_BYTES + bytes[2]) {
			return null;
		}
		ByteBuffer buffer = ByteBuffer.wrap(bytes).position(3);
		String secretId = new String(take(buffer, bytes[2]), StandardCharsets.ISO_8859_1);
		long seconds = buffer.getLong();
		if (!TokenSecret.isId(secretId) || seconds < 0 || seconds > Instant.MAX.getEpochSecond()) {
			return null;
		}
		return new TokenFormat(bytes[1] == 1, secretId, Instant.ofEpochSecond(seconds), take(buffer, SERIAL_BYTES),
				take(buffer, SIGNATURE_BYTES));
	}

	/**
	 * Returns what the signature protects, besides what only the server knows.
	 */
	byte[] content() {
		byte[] id = this.secretId.getBytes(StandardCharsets.ISO_8859_1);
		return ByteBuffer.allocate(FIXED_BYTES - SIGNATURE_BYTES + id.length)
			.put(VERSION)
			.put((byte) (this.bound ? 1 : 0))
			.put((byte) id.length)
			.put(id)
			.putLong(this.expiry.getEpochSecond())
			.put(this.serial)
			.array();
	}

	String write(byte[] signed) {
		byte[] content = content();
		byte[] bytes = Arrays.copyOf(content, content.length + signed.length);
		System.arraycopy(signed, 0, bytes, content.length, signed.length);
		return encoder.encodeToString(bytes);
	}

	String serialText() {
		return encoder.encodeToString(this.serial);
	}

	/**
	 * Accepts one text for each sequence of bytes: the decoder ignores the last bits.
	 */
	private static byte @Nullable [] decode(String text) {
		try {
			byte[] bytes = Base64.getUrlDecoder().decode(text);
			return encoder.encodeToString(bytes).equals(text) ? bytes : null;
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	private static byte[] take(ByteBuffer buffer, int length) {
		byte[] taken = new byte[length];
		buffer.get(taken);
		return taken;
	}

}
