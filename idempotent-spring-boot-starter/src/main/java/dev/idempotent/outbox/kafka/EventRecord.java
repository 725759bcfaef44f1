package dev.idempotent.outbox.kafka;

import java.nio.charset.StandardCharsets;

import dev.idempotent.outbox.SerializedEvent;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Maps an event to a record in the binary mode of CloudEvents' Kafka binding.
 */
final class EventRecord {

	private EventRecord() {
	}

	static ProducerRecord<byte[], byte[]> of(SerializedEvent event) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(event.destination(), bytes(event.key()),
				event.payload());
		event.headers().forEach((name, value) -> record.headers().add(valid(name), bytes(value)));
		return record;
	}

	/**
	 * Replaces what is not valid Unicode. The client computes another length for it than
	 * it writes, and the broker then rejects all records of the request.
	 */
	private static String valid(String name) {
		return new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
	}

	private static byte @Nullable [] bytes(@Nullable String text) {
		return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : null;
	}

}
