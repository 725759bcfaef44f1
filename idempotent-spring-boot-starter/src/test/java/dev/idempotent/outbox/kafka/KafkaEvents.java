package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Events to publish, and a publisher for them.
 */
final class KafkaEvents {

	private KafkaEvents() {
	}

	static SerializedEvent to(String topic, @Nullable String key, String payload) {
		return to(topic, key, payload.getBytes(StandardCharsets.UTF_8), Map.of());
	}

	static SerializedEvent to(String topic, @Nullable String key, byte[] payload, Map<String, String> headers) {
		return new SerializedEvent(UUID.randomUUID(), 42, KafkaOutboxPublisher.PREFIX + ":" + topic, key,
				"order.created", payload, headers, 1);
	}

	/**
	 * A publisher that delivers even if a broker needs long to respond, or to tell of a
	 * topic that was just created.
	 */
	static KafkaOutboxPublisher patientPublisher(String brokers) {
		Duration patience = Duration.ofSeconds(60);
		ProducerSettings settings = new ProducerSettings(patience, patience.dividedBy(2), patience);
		Map<String, Object> all = settings.applyTo(Map.of("bootstrap.servers", brokers, "client.id", "test"));
		return new KafkaOutboxPublisher(
				() -> new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer()), settings);
	}

	/**
	 * Events of one key whose payloads are the numbers from 0.
	 */
	static List<SerializedEvent> numbered(String topic, String key, int count) {
		return IntStream.range(0, count).mapToObj((i) -> to(topic, key, Integer.toString(i))).toList();
	}

}
