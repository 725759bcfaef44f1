package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A delivered entry of a stream.
 *
 * @param id its id in the stream
 * @param deliveries how often it has been delivered, including this time; 0 if it was
 * trimmed from the stream
 * @param fields alternating names and values
 */
record StreamEntry(String id, long deliveries, List<byte[]> fields) {

	private static final String PAYLOAD = "payload";

	Map<String, String> headers() {
		Map<String, String> headers = new LinkedHashMap<>();
		for (int i = 0; i < this.fields.size(); i += 2) {
			String name = text(this.fields.get(i));
			if (!name.equals(PAYLOAD)) {
				headers.put(name, text(this.fields.get(i + 1)));
			}
		}
		return Collections.unmodifiableMap(headers);
	}

	byte @Nullable [] payload() {
		for (int i = 0; i < this.fields.size(); i += 2) {
			if (text(this.fields.get(i)).equals(PAYLOAD)) {
				return this.fields.get(i + 1);
			}
		}
		return null;
	}

	static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	static byte[] bytes(Object value) {
		return value.toString().getBytes(StandardCharsets.UTF_8);
	}

}
