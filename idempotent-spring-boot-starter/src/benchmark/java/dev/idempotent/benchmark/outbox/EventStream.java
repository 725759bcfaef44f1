package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongUnaryOperator;

import dev.idempotent.testing.RealRedis;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisStreamAsyncCommands;
import org.awaitility.Awaitility;

/**
 * The Redis stream that a contender delivers to, seen from a connection of its own.
 */
final class EventStream implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(10);

	private static final Duration GLANCE = Duration.ofMillis(2);

	private static final Limit PAGE = Limit.from(1_000);

	private final String name;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	private EventStream(String name, RedisClient client) {
		this.name = name;
		this.client = client;
		this.connection = client.connect();
	}

	static String nameFor(String contender) {
		return "bench-" + contender;
	}

	static EventStream of(RealRedis redis, String contender) {
		return new EventStream(nameFor(contender), RedisClient.create(RedisURI.create(redis.host(), redis.port())));
	}

	long length() {
		return this.connection.sync().xlen(this.name);
	}

	/**
	 * Returns as soon as the stream has so many entries.
	 */
	void awaitLength(long length) {
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(GLANCE)
			.atMost(PATIENCE)
			.until(() -> length() >= length);
	}

	/**
	 * Commands on the connection of this stream.
	 */
	RedisStreamAsyncCommands<String, String> commands() {
		return this.connection.async();
	}

	/**
	 * How many events, when they were first added, were behind a later one of their key.
	 * @param key of an event by its number
	 */
	long outOfOrder(LongUnaryOperator key) {
		Map<Long, Long> last = new HashMap<>();
		Set<Long> seen = new HashSet<>();
		long outOfOrder = 0;
		Range<String> range = Range.unbounded();
		List<StreamMessage<String, String>> some = this.connection.sync().xrange(this.name, range, PAGE);
		while (!some.isEmpty()) {
			for (StreamMessage<String, String> message : some) {
				Long event = StreamReader.numberIn(message);
				if (event != null && seen.add(event)) {
					long latest = last.merge(key.applyAsLong(event), event, Math::max);
					outOfOrder += (latest != event) ? 1 : 0;
				}
			}
			range = Range.from(Range.Boundary.excluding(some.get(some.size() - 1).getId()), Range.Boundary.unbounded());
			some = this.connection.sync().xrange(this.name, range, PAGE);
		}
		return outOfOrder;
	}

	void clear() {
		this.connection.sync().del(this.name);
	}

	/**
	 * Begins to read, from the stream's beginning.
	 */
	StreamReader read() {
		return new StreamReader(this.client.connect(), this.name);
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown();
	}

}
