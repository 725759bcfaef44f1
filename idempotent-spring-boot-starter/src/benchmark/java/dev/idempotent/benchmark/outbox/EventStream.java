package dev.idempotent.benchmark.outbox;

import java.time.Duration;

import dev.idempotent.testing.RealRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisStreamAsyncCommands;
import org.awaitility.Awaitility;

/**
 * The Redis stream that a contender delivers to, seen from a connection of its own.
 */
final class EventStream implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(10);

	private static final Duration GLANCE = Duration.ofMillis(2);

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
