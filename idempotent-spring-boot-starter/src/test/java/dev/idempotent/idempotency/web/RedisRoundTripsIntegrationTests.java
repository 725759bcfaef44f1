package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The round trips of a request, as counted by Redis.
 */
class RedisRoundTripsIntegrationTests {

	private static final Map<String, Integer> READ = Map.of("evalsha", 1, "get", 1, "pttl", 1);

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void takesTwoRoundTripsForAFirstRequestAndOneForEachOther() throws Exception {
		try (WebApplication application = WebApplication.start(OperationsApplication.class, redis,
				WebApplication.WITH_OPERATIONS); RedisConnection connection = redis.connect().getConnection()) {
			// Loads the scripts.
			application.post("/orders", "{\"item\":\"a\",\"amount\":1}", "Idempotency-Key",
					UUID.randomUUID().toString());
			String key = UUID.randomUUID().toString();

			assertThat(counting(connection, () -> post(application, key, "a", 201)))
				.isEqualTo(Map.of("evalsha", 2, "get", 1, "getrange", 1, "set", 2));
			assertThat(counting(connection, () -> post(application, key, "a", 201))).isEqualTo(READ);
			assertThat(counting(connection, () -> post(application, key, "b", 422)))
				.isEqualTo(Map.of("evalsha", 1, "get", 1));
			assertThat(countingADuplicate(application, connection)).isEqualTo(READ);
			assertThat(counting(connection, () -> application.post("/plain", "{}", "Idempotency-Key", key))).isEmpty();
		}
	}

	@Test
	void takesNoRoundTripForAReplayFromMemory() throws Exception {
		try (WebApplication application = WebApplication.start(OperationsApplication.class, redis,
				WebApplication.WITH_OPERATIONS, "idempotent.replay-cache.max-size=1MB");
				RedisConnection connection = redis.connect().getConnection()) {
			String key = UUID.randomUUID().toString();
			post(application, key, "a", 201);
			post(application, key, "a", 201);
			assertThat(counting(connection, () -> post(application, key, "a", 201))).isEmpty();
			assertThat(counting(connection, () -> post(application, key, "b", 422)))
				.isEqualTo(Map.of("evalsha", 1, "get", 1));
		}
	}

	private static Map<String, Integer> countingADuplicate(WebApplication application, RedisConnection connection)
			throws InterruptedException {
		Gate gate = application.bean(Operations.class).closeGate();
		String key = UUID.randomUUID().toString();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/held", "", "Idempotency-Key", key);
		gate.awaitEntry();
		Map<String, Integer> calls = counting(connection,
				() -> assertThat(application.post("/held", "", "Idempotency-Key", key).statusCode()).isEqualTo(409));
		gate.open();
		assertThat(first.join().statusCode()).isEqualTo(200);
		return calls;
	}

	private static void post(WebApplication application, String key, String item, int status) {
		HttpResponse<byte[]> response = application.post("/orders", "{\"item\":\"" + item + "\",\"amount\":1}",
				"Idempotency-Key", key);
		assertThat(response.statusCode()).isEqualTo(status);
	}

	/**
	 * What the background may announce of a request that lasts longer than a second. The
	 * command that the script runs once tells how often it has.
	 */
	private static void removeAnnouncements(Map<String, Integer> calls) {
		int announcements = calls.getOrDefault("pexpireat", 0);
		List.of("evalsha", "eval").forEach((script) -> calls.computeIfPresent(script, (name, count) -> {
			int others = Math.max(0, count - announcements);
			return (others > 0) ? others : null;
		}));
		calls.keySet().removeIf((command) -> command.startsWith("z") || List.of("time", "pexpireat").contains(command));
	}

	/**
	 * The commands that requests have caused: scripts, and the commands inside them.
	 */
	private static Map<String, Integer> counting(RedisConnection connection, Runnable requests) {
		connection.serverCommands().resetConfigStats();
		requests.run();
		Properties stats = connection.serverCommands().info("commandstats");
		assertThat(stats).isNotNull();
		Map<String, Integer> calls = new TreeMap<>();
		stats.stringPropertyNames().forEach((name) -> {
			String line = stats.getProperty(name);
			calls.put(name.substring("cmdstat_".length()),
					Integer.valueOf(line.substring("calls=".length(), line.indexOf(','))));
		});
		calls.keySet().removeIf((command) -> command.startsWith("config") || command.equals("info"));
		removeAnnouncements(calls);
		return calls;
	}

}
