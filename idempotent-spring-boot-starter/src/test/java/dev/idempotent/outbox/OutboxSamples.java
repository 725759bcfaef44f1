package dev.idempotent.outbox;

import java.util.LinkedHashMap;
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

}
