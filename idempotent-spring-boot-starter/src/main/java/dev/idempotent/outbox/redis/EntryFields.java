package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;

import dev.idempotent.outbox.SerializedEvent;

/**
 * Maps an event to the fields of a stream entry.
 */
final class EntryFields {

	private static final byte[] PAYLOAD = bytes("payload");

	private EntryFields() {
	}

	/**
	 * Passes the fields in their order to a consumer. Skips a header named
	 * {@code payload}, which would hide the payload of the event.
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
