package dev.idempotent.autoconfigure.idempotency;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.function.IntSupplier;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an application does with its Redis before it takes requests.
 */
@ExtendWith(OutputCaptureExtension.class)
class ColdStartIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy proxy = StallingProxy.before(redis);

	@Test
	void connectsBeforeThePortOpens(CapturedOutput output) {
		try (RedisConnection connection = redis.connect().getConnection()) {
			int before = connectionsReceived(connection);
			AtStart.count = () -> connectionsReceived(connection) - before;
			WebApplication.start(Orders.class, redis).close();
		}
		assertThat(AtStart.connections).isEqualTo(1);
		assertThat(output).doesNotContain("maxmemory-policy");
	}

	@Test
	void asksBeforeThePortOpensWhetherKeysAreEvicted(CapturedOutput output) {
		try (RedisConnection connection = redis.connect().getConnection()) {
			connection.serverCommands().setConfig("maxmemory-policy", "allkeys-lru");
			WebApplication.start(Orders.class, redis).close();
			connection.serverCommands().setConfig("maxmemory-policy", "noeviction");
		}
		assertThat(output).containsOnlyOnce("use a Redis with maxmemory-policy noeviction");
	}

	@Test
	void startsWithAnUnresponsiveRedisAndLogsAWarning(CapturedOutput output) {
		proxy.hold();
		try (WebApplication application = WebApplication.start(Orders.class, proxy, "idempotent.redis.timeout=50ms")) {
			assertThat(output).contains("Redis was not reachable while the application started",
					"idempotent.on-store-failure", "maxmemory-policy");
			proxy.resume();
			await().until(() -> post(application).statusCode() == 200);
		}
		finally {
			proxy.resume();
		}
	}

	@Test
	void asksWhetherKeysAreEvictedOnceAnUnresponsiveRedisAnswers(CapturedOutput output) {
		try (RedisConnection connection = redis.connect().getConnection()) {
			connection.serverCommands().setConfig("maxmemory-policy", "allkeys-lru");
			proxy.hold();
			try (WebApplication application = WebApplication.start(Orders.class, proxy,
					"idempotent.redis.timeout=50ms")) {
				proxy.resume();
				await().until(() -> post(application).statusCode() == 200);
				await().untilAsserted(
						() -> assertThat(output).containsOnlyOnce("use a Redis with maxmemory-policy noeviction"));
			}
			finally {
				proxy.resume();
				connection.serverCommands().setConfig("maxmemory-policy", "noeviction");
			}
		}
		assertThat(output).containsOnlyOnce("Redis was not reachable while the application started");
	}

	@Test
	void startsWithoutRedisAndLogsAWarning(CapturedOutput output) {
		WebApplication.start(Orders.class, () -> List.of("spring.data.redis.port=1")).close();
		assertThat(output).containsOnlyOnce("Redis was not reachable while the application started")
			.contains("Connection refused");
	}

	private static int connectionsReceived(RedisConnection connection) {
		Properties stats = Objects.requireNonNull(connection.serverCommands().info("stats"));
		return Integer.parseInt(stats.getProperty("total_connections_received"));
	}

	private static HttpResponse<byte[]> post(WebApplication application) {
		return application.post("/orders", "{}", "Idempotency-Key", "cold-start");
	}

	@RestController
	@EnableAutoConfiguration
	static class Orders {

		@Idempotent
		@PostMapping("/orders")
		void place() {
		}

		@Bean
		AtStart atStart() {
			return new AtStart();
		}

	}

	/**
	 * Counts right before the port opens.
	 */
	static class AtStart implements SmartLifecycle {

		private static IntSupplier count = () -> 0;

		private static int connections;

		private boolean running;

		@Override
		public void start() {
			connections = count.getAsInt();
			this.running = true;
		}

		@Override
		public void stop() {
			count = () -> 0;
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 1;
		}

	}

}
