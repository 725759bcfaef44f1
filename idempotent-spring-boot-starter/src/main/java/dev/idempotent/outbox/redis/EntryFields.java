package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.SerializedEvent;

/**
 * An event as the fields of a stream's entry.
 */
final class EntryFields {

	private static final byte[] PAYLOAD = bytes("payload");

	private EntryFields() {
	}

	/**
	 * Tells the fields in their order. A header that is called {@code payload} is left
	 * out: it would stand before the event's own.
	 */
	static void forEach(SerializedEvent event, BiConsumer<byte[], byte[]> field) {
		event.headers().forEach((name, value) -> {
			if (!name.equals("payload")) {
				field.accept(bytes(name), bytes(value));
			}
		});
		field.accept(PAYLOAD, event.payload());
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
