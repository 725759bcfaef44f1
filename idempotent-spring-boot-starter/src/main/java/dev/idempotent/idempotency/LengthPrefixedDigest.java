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

	private LengthPrefixedDigest() {
	}

	static String of(String... parts) {
		return of(Arrays.stream(parts).map(LengthPrefixedDigest::encode).toList());
	}

	static String of(List<byte[]> parts) {
		MessageDigest digest = sha256();
		for (byte[] part : parts) {
			digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part.length));
			digest.update(part);
		}
		return HexFormat.of().formatHex(digest.digest());
	}

	/**
	 * Encodes as UTF-8, which would turn all unpaired surrogates into the same question
	 * mark: they become three bytes each that UTF-8 does not have.
	 */
	private static byte[] encode(String part) {
		if (part.chars().noneMatch((unit) -> Character.isSurrogate((char) unit))) {
			return part.getBytes(StandardCharsets.UTF_8);
		}
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

	private static MessageDigest sha256() {
		try {
			return MessageDigest.getInstance("SHA-256");
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
