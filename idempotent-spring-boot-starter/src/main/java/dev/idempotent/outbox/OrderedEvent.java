package dev.idempotent.outbox;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

import dev.idempotent.outbox.OutboxStore.EventLease;
import org.jspecify.annotations.Nullable;

/**
 * An event to append that is delivered after the earlier events of its topic and key.
 * Internal to this library.
 *
 * @param event without a row yet
 * @param keyHash the hash of its topic and key, as {@link #hash}
 * @param lease leases the event from now on and counts an attempt; {@code null} to append
 * it without a lease
 */
public record OrderedEvent(SerializedEvent event, long keyHash, @Nullable EventLease lease) {

	/**
	 * Creates an event without a lease.
	 * @param event an event with a key
	 * @return the event
	 */
	public static OrderedEvent of(SerializedEvent event) {
		if (event.key() == null) {
			throw new IllegalArgumentException("An event without a key has no order");
		}
		return new OrderedEvent(event, hash(event.topic(), event.key()), null);
	}

	/**
	 * Returns the event with a lease.
	 * @param granted the lease
	 * @return a new event
	 */
	public OrderedEvent leasedBy(EventLease granted) {
		return new OrderedEvent(this.event, this.keyHash, granted);
	}

	/**
	 * Hashes a topic and a key: the first 63 bits of the SHA-256 of the topic, a NUL and
	 * the key. Keys with the same hash only share their order.
	 * @param topic the topic
	 * @param key the key
	 * @return not negative
	 */
	public static long hash(String topic, String key) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			digest.update(topic.getBytes(StandardCharsets.UTF_8));
			digest.update((byte) 0);
			byte[] hash = digest.digest(key.getBytes(StandardCharsets.UTF_8));
			return ByteBuffer.wrap(hash).getLong() >>> 1;
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
