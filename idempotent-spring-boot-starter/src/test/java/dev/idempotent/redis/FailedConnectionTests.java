package dev.idempotent.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;

import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import io.lettuce.core.RedisConnectionException;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the message of a failed connection.
 */
class FailedConnectionTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final Duration SHORT_TIMEOUT = Duration.ofMillis(50);

	@Test
	void reportsThatTheConnectionWasRefused() {
		try (DedicatedRedisConnections connections = DedicatedRedisConnections.to(refusing(), TIMEOUT)) {
			assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(connections::connect)
				.withMessageStartingWith("Could not connect to Redis: Connection refused")
				.withMessageNotContaining("PT30S");
		}
	}

	@Test
	void reportsThatTheConnectionForKeysWasRefused() {
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(refusing(), TIMEOUT)) {
			assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(() -> connection.evictionPolicies())
				.withMessageStartingWith("Could not connect to Redis: Connection refused");
		}
	}

	@Test
	void reportsTheTimeout() throws IOException {
		try (ServerSocket silent = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
				DedicatedRedisConnections connections = DedicatedRedisConnections.to(factory(silent.getLocalPort()),
						SHORT_TIMEOUT)) {
			assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(connections::connect)
				.withMessage("Not connected to Redis within PT0.05S");
		}
	}

	private static LettuceConnectionFactory refusing() {
		return factory(1);
	}

	private static LettuceConnectionFactory factory(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", port);
		factory.afterPropertiesSet();
		return factory;
	}

}
