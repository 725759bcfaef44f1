package dev.idempotent.idempotency.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * The value of a key in Redis. The scripts know this format, too:
 *
 * <pre>
 * format (4) | length of the token (1) | token | state (1)
 * | version of the fingerprint (4) | length of its digest (1) | digest | content
 * </pre>
 *
 * The token and the state are in front, so that a script can check them without reading
 * the content: the response of a completed key, or what runs under a pending one.
 */
final class RedisValue {

	/**
	 * The first byte never occurs in UTF-8, and the last one is the version.
	 */
	private static final byte[] FORMAT = { (byte) 0xF5, 'I', 'K', 1 };

	private static final byte PENDING = 'P';

	private static final byte COMPLETED = 'C';

	private static final int MAX_LENGTH = 0xFF;

	private final byte[] bytes;

	/**
	 * The index of the state, which follows the token.
	 */
	private final int state;

	/**
	 * The index of the content.
	 */
	private final int content;

	private RedisValue(byte[] bytes, int state, int content) {
		this.bytes = bytes;
		this.state = state;
		this.content = content;
	}

	/**
	 * The value of a claimed key.
	 */
	static byte[] pending(String token, Fingerprint fingerprint, @Nullable RunDescription run) {
		return write(token, PENDING, fingerprint,
				(run != null) ? StoredResponse.of(run.toBytes()) : StoredResponse.notKept());
	}

	/**
	 * The value of a completed key.
	 */
	static byte[] completed(String token, Fingerprint fingerprint, StoredResponse response) {
		return write(token, COMPLETED, fingerprint, response);
	}

	/**
	 * The beginning of the value of each key that the token has claimed.
	 */
	static byte[] pendingPrefix(String token) {
		return prefix(token, PENDING);
	}

	/**
	 * The beginning of the value of each key that the token has completed.
	 */
	static byte[] completedPrefix(String token) {
		return prefix(token, COMPLETED);
	}

	/**
	 * Reads a value.
	 * @return {@code null} if it has another format
	 */
	static @Nullable RedisValue read(byte[] bytes) {
		if (!Arrays.equals(bytes, 0, Math.min(bytes.length, FORMAT.length), FORMAT, 0, FORMAT.length)) {
			return null;
		}
		int state = endOfText(bytes, FORMAT.length);
		int content = endOfText(bytes, state + 1 + Integer.BYTES);
		boolean whole = content <= bytes.length && (bytes[state] == PENDING || bytes[state] == COMPLETED);
		return whole ? new RedisValue(bytes, state, content) : null;
	}

	boolean isCompleted() {
		return this.bytes[this.state] == COMPLETED;
	}

	String token() {
		int start = FORMAT.length + 1;
		return new String(this.bytes, start, this.state - start, StandardCharsets.UTF_8);
	}

	StoredResponse response() {
		return StoredResponse.of(this.bytes).from(this.content);
	}

	@Nullable RunDescription run() {
		return RunDescription.parse(Arrays.copyOfRange(this.bytes, this.content, this.bytes.length));
	}

	private static byte[] write(String token, byte state, Fingerprint fingerprint, StoredResponse content) {
		byte[] owner = token.getBytes(StandardCharsets.UTF_8);
		byte[] digest = fingerprint.digest().getBytes(StandardCharsets.UTF_8);
		int head = FORMAT.length + 1 + owner.length + 1 + Integer.BYTES + 1 + digest.length;
		ByteBuffer value = ByteBuffer.allocate(head + content.size());
		putText(value.put(FORMAT), owner).put(state).putInt(fingerprint.version());
		putText(value, digest);
		content.copyTo(value.array(), head);
		return value.array();
	}

	private static byte[] prefix(String token, byte state) {
		byte[] owner = token.getBytes(StandardCharsets.UTF_8);
		ByteBuffer prefix = ByteBuffer.allocate(FORMAT.length + 1 + owner.length + 1);
		return putText(prefix.put(FORMAT), owner).put(state).array();
	}

	private static ByteBuffer putText(ByteBuffer value, byte[] text) {
		if (text.length > MAX_LENGTH) {
			throw new IllegalArgumentException("A token or digest of " + text.length + " bytes is too long for Redis");
		}
		return value.put((byte) text.length).put(text);
	}

	/**
	 * Returns the index after a text that begins with its length, or a number beyond the
	 * end of the bytes if they are truncated.
	 */
	private static int endOfText(byte[] bytes, int start) {
		return (start < bytes.length) ? start + 1 + Byte.toUnsignedInt(bytes[start]) : bytes.length + 1;
	}

}
