package dev.idempotent.outbox.crash;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.stream.ByteRecord;

/**
 * A stream of a Redis that persists each write, behind a proxy.
 */
final class RedisBroker implements EventBroker {

	static final String STREAM = "orders";

	private static final int PAGE = 10_000;

	private final RealRedis redis;

	private final StallingProxy network;

	RedisBroker(RealRedis redis, StallingProxy network) {
		this.redis = redis;
		this.network = network;
	}

	@Override
	public String topic() {
		return "redis-stream:" + STREAM;
	}

	@Override
	public Duration lease() {
		return Duration.ofSeconds(3);
	}

	@Override
	public List<String> properties() {
		return this.network.properties();
	}

	@Override
	public Map<String, Runnable> faults() {
		return Faults.of(this.network);
	}

	@Override
	public void kill() {
		this.redis.kill();
	}

	@Override
	public void start() {
		this.redis.start();
	}

	@Override
	public void resume() {
		this.network.resume();
	}

	@Override
	public List<PublishedEvent> read() {
		LettuceConnectionFactory client = this.redis.connect();
		List<PublishedEvent> events = new ArrayList<>();
		try (RedisConnection connection = client.getConnection()) {
			Range<String> range = Range.unbounded();
			List<ByteRecord> page;
			do {
				page = Objects.requireNonNull(connection.streamCommands()
					.xRange(STREAM.getBytes(StandardCharsets.UTF_8), range, Limit.limit().count(PAGE)));
				page.forEach((entry) -> events.add(published(entry)));
				range = page.isEmpty() ? range
						: Range.rightUnbounded(Range.Bound.exclusive(page.get(page.size() - 1).getId().getValue()));
			}
			while (page.size() == PAGE);
		}
		return events;
	}

	@Override
	public void close() {
		// The test class has started it.
	}

	private static PublishedEvent published(ByteRecord entry) {
		Map<String, String> headers = new HashMap<>();
		entry.getValue().forEach((name, value) -> headers.put(text(name), text(value)));
		String payload = Objects.requireNonNull(headers.remove("payload"));
		return new PublishedEvent(headers, payload,
				Instant.ofEpochMilli(Objects.requireNonNull(entry.getId().getTimestamp())));
	}

	private static String text(byte[] value) {
		return new String(value, StandardCharsets.UTF_8);
	}

}
