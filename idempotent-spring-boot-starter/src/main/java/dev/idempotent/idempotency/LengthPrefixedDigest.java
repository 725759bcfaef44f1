package dev.idempotent.idempotency;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * SHA-256 over parts that are each prefixed with their length, so that {@code "ab","c"}
 * and {@code "a","bc"} differ.
 */
final class LengthPrefixedDigest {

	/**
	 * To look the provider up, or to copy an empty digest, takes longer than to digest a
	 * key.
	 */
	private static final ThreadLocal<MessageDigest> digests = ThreadLocal.withInitial(LengthPrefixedDigest::sha256);

	private LengthPrefixedDigest() {
	}

	static String of(String... parts) {
		MessageDigest digest = begin();
		for (String part : parts) {
			add(digest, encode(part));
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	static String of(List<byte[]> parts) {
		MessageDigest digest = begin();
		for (byte[] part : parts) {
			add(digest, part);
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	private static void add(MessageDigest digest, byte[] part) {
		digest.update((byte) (part.length >>> 24));
		digest.update((byte) (part.length >>> 16));
		digest.update((byte) (part.length >>> 8));
		digest.update((byte) part.length);
		digest.update(part);
	}

	/**
	 * Encodes as UTF-8, which would turn all unpaired surrogates into the same question
	 * mark: they become three bytes each that UTF-8 does not have.
	 */
	private static byte[] encode(String part) {
		return hasSurrogate(part) ? encodeSurrogates(part) : part.getBytes(StandardCharsets.UTF_8);
	}

	static boolean hasSurrogate(String text) {
		for (int i = 0; i < text.length(); i++) {
			if (Character.isSurrogate(text.charAt(i))) {
				return true;
			}
		}
		return false;
	}

	private static byte[] encodeSurrogates(String part) {
		ByteBuffer bytes = ByteBuffer.allocate(3 * part.length());
		part.codePoints().forEach((point) -> {
			if (Character.MIN_SURROGATE <= point && point <= Character.MAX_SURROGATE) {
				bytes.put((byte) (0xe0 | (point >> 12)))
					.put((byte) (0x80 | ((point >> 6) & 0x3f)))
					.put((byte) (0x80 | (point & 0x3f)));
			}
			else {
				bytes.put(Character.toString(point).getBytes(StandardCharsets.UTF_8));
			}
		});
		return Arrays.copyOf(bytes.array(), bytes.position());
	}

	/**
	 * An error may have left a digest of this thread unfinished.
	 */
	private static MessageDigest begin() {
		MessageDigest digest = digests.get();
		digest.reset();
		return digest;
	}

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
