package dev.idempotent.sample.notification;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.awaitility.Awaitility;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The stream of events about orders, accessed without the shop.
 */
public final class OrderStream {

	static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String STREAM = "orders";

	private static final String GROUP = "notifications";

	private final StreamOperations<String, String, String> stream;

	private final JdbcClient jdbc;

	public OrderStream(StringRedisTemplate redis, JdbcClient jdbc) {
		this.stream = redis.opsForStream();
		this.jdbc = jdbc;
	}

	/**
	 * Adds an entry without the outbox.
	 */
	void add(Map<String, String> entry) {
		this.stream.add(STREAM, entry);
	}

	/**
	 * Waits until all committed events have been published, and returns the entries that
	 * contain a text.
	 */
	public List<Map<String, String>> entriesWith(String text) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.jdbc.sql("select count(*) from outbox_event").query(Long.class).single() == 0);
		List<MapRecord<String, String, String>> all = Objects
			.requireNonNull(this.stream.range(STREAM, Range.unbounded()));
		return all.stream()
			.map(MapRecord::getValue)
			.filter((entry) -> Objects.requireNonNull(entry.get("payload")).contains(text))
			.toList();
	}

	/**
	 * Waits until an event has been delivered that often and no delivery is in progress.
	 */
	void awaitDeliveries(String eventId, int count) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.jdbc.sql("select count(*) from delivery where event_id = cast(? as uuid)")
				.param(eventId)
				.query(Long.class)
				.single() == count);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> Objects.requireNonNull(this.stream.pending(STREAM, GROUP)).getTotalPendingMessages() == 0);
	}

}
