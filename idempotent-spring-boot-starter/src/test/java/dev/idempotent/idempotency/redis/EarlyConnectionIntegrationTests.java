package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Properties;

import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRedisConnection#connectEarly()}.
 */
@ExtendWith(OutputCaptureExtension.class)
class EarlyConnectionIntegrationTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void opensTheConnectionThatIsUsedLater() {
		LettuceConnectionFactory application = redis.connect();
		long before = received(application);
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application, TIMEOUT)) {
			connection.connectEarly();
			await().atMost(TIMEOUT).until(() -> received(application) > before);
			long opened = received(application);
			connection.warmUp(TIMEOUT);
			assertThat(received(application)).isEqualTo(opened);
		}
	}

	@Test
	void leavesFailuresToTheWarmUp(CapturedOutput output) {
		LettuceConnectionFactory application = redis.connect();
		redis.stop();
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application,
				Duration.ofMillis(500))) {
			connection.connectEarly();
			await().atMost(TIMEOUT)
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().equals("idempotency-redis-early")));
			assertThat(output).doesNotContain("WARN").doesNotContain("Redis was not reachable");
			redis.start();
			await().atMost(TIMEOUT).ignoreExceptions().untilAsserted(() -> {
				try (RedisConnection later = connection.factory().getConnection()) {
					assertThat(later.ping()).isEqualTo("PONG");
				}
			});
		}
		finally {
			redis.start();
		}
	}

	/**
	 * Counts the connections that the server has received.
	 */
	private static long received(LettuceConnectionFactory application) {
		try (RedisConnection connection = application.getConnection()) {
			Properties stats = connection.serverCommands().info("stats");
			return Long.parseLong(stats.getProperty("total_connections_received"));
		}
	}

}
