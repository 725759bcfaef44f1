package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.SerializedEvent;

/**
 * Events to publish.
 */
final class Events {

	private Events() {
	}

	static SerializedEvent to(String stream, String payload) {
		return to(stream, 1, payload.getBytes(StandardCharsets.UTF_8), Map.of());
	}

	static SerializedEvent to(String stream, long sequence, byte[] payload, Map<String, String> headers) {
		return new SerializedEvent(UUID.randomUUID(), sequence, RedisStreamPublisher.PREFIX + ":" + stream, "key",
				"order.created", payload, headers, 1);
	}

	static SerializedEvent toChannel(String channel, byte[] payload, Map<String, String> headers) {
		return new SerializedEvent(UUID.randomUUID(), 1, RedisChannelPublisher.PREFIX + ":" + channel, "key",
				"order.created", payload, headers, 1);
	}

	/**
	 * Events whose payloads are the numbers from 0.
	 */
	static List<SerializedEvent> numbered(String stream, int count) {
		return IntStream.range(0, count).mapToObj((i) -> to(stream, Integer.toString(i))).toList();
	}

	/**
	 * Events whose payloads are the numbers from 0, as JSON.
	 */
	static List<SerializedEvent> numberedToChannel(String channel, int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> toChannel(channel, Integer.toString(i).getBytes(StandardCharsets.UTF_8),
					Map.of(SerializedEvent.CONTENT_TYPE, "application/json")))
			.toList();
	}

}
