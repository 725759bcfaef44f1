package dev.idempotent.benchmark.http.load;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of the requests of one client, which differ in their key only.
 */
final class RequestBytes {

	private static final int KEY_DIGITS = 16;

	private static final AtomicLong lastKey = new AtomicLong(System.nanoTime());

	private final byte[] bytes;

	private final int keyAt;

	RequestBytes(String path, String body) {
		String beforeKey = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
				+ "Idempotency-Key: benchmark-";
		this.keyAt = beforeKey.length();
		this.bytes = (beforeKey + "0".repeat(KEY_DIGITS) + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
			.getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * A key that no request had before, in this JVM or an earlier one.
	 */
	static long nextKey() {
		return lastKey.incrementAndGet();
	}

	byte[] withKey(long key) {
		for (int digit = 0; digit < KEY_DIGITS; digit++) {
			this.bytes[this.keyAt + digit] = (byte) Character.forDigit((int) (key >>> (4 * digit)) & 0xf, 16);
		}
		return this.bytes;
	}

}
