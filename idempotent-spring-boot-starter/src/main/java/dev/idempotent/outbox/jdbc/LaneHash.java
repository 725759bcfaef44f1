package dev.idempotent.outbox.jdbc;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

/**
 * The lanes of events. The upper 24 bits hash the topic, so the lanes of a topic are one
 * range of the primary key, which a scan can pass over. The lower 40 bits hash topic and
 * key, or are random. Part of the stored format.
 */
public final class LaneHash {

	private static final int KEY_BITS = 40;

	private static final long KEY_MASK = (1L << KEY_BITS) - 1;

	private LaneHash() {
	}

	/**
	 * The lane of an event.
	 * @param key {@code null} for an event without an order
	 */
	public static long of(String topic, @Nullable String key) {
		MessageDigest digest = sha256();
		long slot = ByteBuffer.wrap(digest.digest(topic.getBytes(StandardCharsets.UTF_8))).getLong() & ~KEY_MASK;
		if (slot == 0) {
			// The default of the column, for rows of other programs, is in slot 0.
			slot = 1L << KEY_BITS;
		}
		if (key == null) {
			return slot | ThreadLocalRandom.current().nextLong(1L << KEY_BITS);
		}
		digest.update(topic.getBytes(StandardCharsets.UTF_8));
		digest.update((byte) 0);
		return slot | (ByteBuffer.wrap(digest.digest(key.getBytes(StandardCharsets.UTF_8))).getLong() & KEY_MASK);
	}

	/**
	 * The last lane of the topic of a lane. Rows of other programs have lanes that say
	 * nothing about their topics: for them, it is the lane itself.
	 */
	public static long lastOfTopic(long lane) {
		return ((lane & ~KEY_MASK) == 0) ? lane : lane | KEY_MASK;
	}

	/**
	 * Whether the events of its key are delivered one after the other: an event can have
	 * a key and yet a lane of its own.
	 */
	static boolean isOrdered(ResultSet row) throws SQLException {
		String key = row.getString("event_key");
		return key != null && of(row.getString("topic"), key) == row.getLong("lane");
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
