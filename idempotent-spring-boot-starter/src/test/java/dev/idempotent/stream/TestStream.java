package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A stream of one test, as other programs write and read it.
 */
final class TestStream {

	static final String GROUP = "notifications";

	private final String name;

	private final StringRedisTemplate template;

	private final StreamOperations<String, String, String> streams;

	TestStream(RedisConnectionFactory factory) {
		this(factory, "orders-" + UUID.randomUUID());
	}

	TestStream(RedisConnectionFactory factory, String name) {
		this.name = name;
		this.template = new StringRedisTemplate(factory);
		this.streams = this.template.opsForStream();
	}

	String property() {
		return "test.stream=" + this.name;
	}

	String name() {
		return this.name;
	}

	RecordId add(String id) {
		return add(Map.of("ce_id", id, "payload", "{\"id\":\"" + id + "\",\"amount\":1}"));
	}

	RecordId add(Map<String, String> fields) {
		return this.streams.add(this.name, new LinkedHashMap<>(fields));
	}

	void delete(RecordId id) {
		this.streams.delete(this.name, id);
	}

	/**
	 * Lets a consumer read all new entries and crash.
	 */
	@SuppressWarnings("unchecked")
	void readAndDie() {
		createGroup();
		this.streams.read(Consumer.from(GROUP, "dead"), StreamOffset.create(this.name, ReadOffset.lastConsumed()));
	}

	void createGroup() {
		this.streams.createGroup(this.name, ReadOffset.from("0"), GROUP);
	}

	/**
	 * Sets the delivery count of an entry of the crashed consumer.
	 */
	void countDeliveries(RecordId id, int deliveries) {
		this.template.execute((RedisCallback<Object>) (connection) -> connection.scriptingCommands()
			.eval("return redis.call('XCLAIM', KEYS[1], ARGV[1], 'dead', 0, ARGV[2], 'RETRYCOUNT', ARGV[3], 'JUSTID')"
				.getBytes(StandardCharsets.UTF_8), ReturnType.MULTI, 1, StreamEntry.bytes(this.name),
					StreamEntry.bytes(GROUP), StreamEntry.bytes(id.getValue()), StreamEntry.bytes(deliveries)));
	}

	void destroyGroup() {
		this.streams.destroyGroup(this.name, GROUP);
	}

	/**
	 * The idle time of the one entry that is being processed.
	 */
	Duration idle() {
		return this.streams.pending(this.name, GROUP, Range.unbounded(), 1).get(0).getElapsedTimeSinceLastDelivery();
	}

	long pending() {
		return this.streams.pending(this.name, GROUP).getTotalPendingMessages();
	}

	long consumers() {
		return this.streams.consumers(this.name, GROUP).stream().count();
	}

	/**
	 * The number of entries that a consumer has been given.
	 */
	long delivered() {
		return this.streams.range(this.name, Range.closed("-", lastDelivered())).size();
	}

	private String lastDelivered() {
		return this.streams.groups(this.name)
			.stream()
			.filter((group) -> group.groupName().equals(GROUP))
			.findFirst()
			.orElseThrow()
			.lastDeliveredId();
	}

	List<Map<String, String>> dead() {
		return this.streams.range(this.name + "." + GROUP + ".dead", Range.unbounded())
			.stream()
			.map(MapRecord::getValue)
			.toList();
	}

}
