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
		return of(Arrays.stream(parts).map((part) -> part.getBytes(StandardCharsets.UTF_8)).toList());
	}

	static String of(List<byte[]> parts) {
		MessageDigest digest = sha256();
		for (byte[] part : parts) {
			digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part.length));
			digest.update(part);
		}
		return HexFormat.of().formatHex(digest.digest());
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
