package dev.idempotent.outbox;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Events without a row.
 */
public final class OutboxSamples {

	private OutboxSamples() {
	}

	public static SerializedEvent event(String topic, @Nullable String key, String type, byte[] payload,
			Map<String, String> headers) {
		Map<String, String> all = new LinkedHashMap<>(headers);
		all.put(SerializedEvent.CONTENT_TYPE, "application/json");
		return new SerializedEvent(UUID.randomUUID(), 0, topic, key, type, payload, all, 0);
	}

	/**
	 * All attributes of an event except for its row, for comparison.
	 *
	 * @param id names the event
	 * @param topic where it goes
	 * @param key what it is about
	 * @param type what has happened
	 * @param payload what it carries
	 * @param headers by name
	 * @param attempts how many have begun
	 */
	public record EventFacts(UUID id, String topic, @Nullable String key, String type, ByteBuffer payload,
			List<Map.Entry<String, String>> headers, int attempts) {

		public static EventFacts of(SerializedEvent event) {
			return of(event, event.attempts());
		}

		/**
		 * The facts with a number of attempts.
		 */
		public static EventFacts of(SerializedEvent event, int attempts) {
			List<Map.Entry<String, String>> headers = event.storedHeaders()
				.entrySet()
				.stream().<Map
						.Entry<String, String>>map((header) -> Map.entry(header.getKey(), header.getValue()))
				.sorted(Map.Entry.comparingByKey())
				.toList();
			return new EventFacts(event.id(), event.topic(), event.key(), event.type(),
					ByteBuffer.wrap(event.payload()), headers, attempts);
		}

	}

}
