package dev.idempotent.testing;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * The records of a topic as another program sees them.
 */
public final class KafkaRecords {

	private KafkaRecords() {
	}

	/**
	 * Reads what is in a topic now, partition by partition, in the order of their
	 * offsets.
	 */
	public static List<ConsumerRecord<byte[], byte[]>> of(String brokers, String topic) {
		Map<String, Object> settings = Map.of("bootstrap.servers", brokers, "auto.offset.reset", "earliest");
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(),
				new ByteArrayDeserializer())) {
			List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
			consumer.partitionsFor(topic)
				.forEach((partition) -> read(consumer, new TopicPartition(topic, partition.partition()), records));
			return records;
		}
	}

	private static void read(KafkaConsumer<byte[], byte[]> consumer, TopicPartition partition,
			List<ConsumerRecord<byte[], byte[]>> records) {
		List<TopicPartition> alone = List.of(partition);
		consumer.assign(alone);
		consumer.seekToBeginning(alone);
		long end = consumer.endOffsets(alone).getOrDefault(partition, 0L);
		while (consumer.position(partition) < end) {
			consumer.poll(Duration.ofMillis(100)).forEach(records::add);
		}
	}

	/**
	 * Reads the payloads of a topic as text.
	 */
	public static List<String> payloads(String brokers, String topic) {
		return of(brokers, topic).stream().map((record) -> text(record.value())).toList();
	}

	/**
	 * The headers of a record as text, in their order.
	 */
	public static Map<String, String> headers(ConsumerRecord<?, ?> record) {
		Map<String, String> headers = new LinkedHashMap<>();
		record.headers().forEach((header) -> headers.put(header.key(), text(header.value())));
		return headers;
	}

	private static String text(byte @Nullable [] bytes) {
		return (bytes != null) ? new String(bytes, StandardCharsets.UTF_8) : "null";
	}

}
