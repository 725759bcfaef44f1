package dev.idempotent.outbox.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.ClientOptions;
import org.jspecify.annotations.Nullable;

/**
 * Adds events to a stream. All events of a key are one script, which stops at the first
 * that is refused, so this publisher keeps the order of runs.
 */
final class RedisRuns implements OutboxPublisher, AutoCloseable {

	static final String STREAM = "events";

	static final String TOPIC = "redis:" + STREAM;

	private static final String SCRIPT = """
			for i, value in ipairs(ARGV) do
				local reply = redis.pcall('XADD', KEYS[1], '*', 'e', value)
				if type(reply) == 'table' and reply.err then
					return i - 1
				end
			end
			return #ARGV
			""";

	private final RedisClient client;

	private final Duration timeout;

	private @Nullable StatefulRedisConnection<String, String> connection;

	RedisRuns(String host, int port, Duration timeout) {
		this.timeout = timeout;
		this.client = RedisClient.create(RedisURI.builder().withHost(host).withPort(port).withTimeout(timeout).build());
		this.client.setOptions(ClientOptions.builder().autoReconnect(false).build());
	}

	@Override
	public String prefix() {
		return "redis";
	}

	@Override
	public List<Outcome> publish(List<SerializedEvent> events) {
		Map<String, List<Integer>> keys = new LinkedHashMap<>();
		for (int i = 0; i < events.size(); i++) {
			String key = events.get(i).key();
			keys.computeIfAbsent((key != null) ? key : "#" + i, (unused) -> new ArrayList<>()).add(i);
		}
		List<Outcome> outcomes = new ArrayList<>(events.size());
		events.forEach((event) -> outcomes.add(new Outcome.Unavailable("Not sent")));
		try {
			Map<List<Integer>, RedisFuture<Long>> replies = new LinkedHashMap<>();
			StatefulRedisConnection<String, String> current = connection();
			keys.values()
				.forEach((positions) -> replies.put(positions,
						current.async()
							.eval(SCRIPT, ScriptOutputType.INTEGER, new String[] { STREAM },
									positions.stream()
										.map((i) -> new String(events.get(i).payload(), StandardCharsets.UTF_8))
										.toArray(String[]::new))));
			long end = System.nanoTime() + this.timeout.toNanos();
			for (Map.Entry<List<Integer>, RedisFuture<Long>> reply : replies.entrySet()) {
				long added = reply.getValue().get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
				List<Integer> positions = reply.getKey();
				for (int i = 0; i < positions.size(); i++) {
					if (i <= added) {
						outcomes.set(positions.get(i),
								(i < added) ? new Outcome.Delivered() : new Outcome.Retry("Refused", null));
					}
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (Exception ex) {
			// The broker is away: what has no reply stays unavailable.
			disconnect();
		}
		return outcomes;
	}

	private synchronized StatefulRedisConnection<String, String> connection() {
		if (this.connection == null || !this.connection.isOpen()) {
			this.connection = this.client.connect();
		}
		return this.connection;
	}

	private synchronized void disconnect() {
		if (this.connection != null) {
			var unused = this.connection.closeAsync();
			this.connection = null;
		}
	}

	@Override
	public void close() {
		this.client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
	}

}
