package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.stream.ByteRecord;

/**
 * The streams as other programs see them.
 */
final class Streams {

	private final RedisConnectionFactory factory;

	Streams(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	List<ByteRecord> entries(String stream) {
		try (RedisConnection connection = this.factory.getConnection()) {
			return connection.streamCommands().xRange(bytes(stream), Range.unbounded());
		}
	}

	List<String> payloads(String stream) {
		return entries(stream).stream().map((entry) -> text(field(entry, "payload"))).toList();
	}

	static byte[] field(ByteRecord entry, String name) {
		return entry.getValue()
			.entrySet()
			.stream()
			.filter((field) -> text(field.getKey()).equals(name))
			.map(Map.Entry::getValue)
			.findFirst()
			.orElseThrow();
	}

	static Map<String, String> fields(ByteRecord entry) {
		Map<String, String> fields = new LinkedHashMap<>();
		entry.getValue().forEach((name, value) -> fields.put(text(name), text(value)));
		return fields;
	}

	static List<String> numbers(int count) {
		return IntStream.range(0, count).mapToObj(Integer::toString).toList();
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
