package dev.idempotent.autoconfigure.idempotency;

import java.util.Objects;
import java.util.Properties;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * When an application asks its Redis whether it evicts keys.
 */
class EvictionCheckIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@Test
	void doesNotConnectIfTheApplicationDoesNotStart() {
		try (RedisConnection connection = redis.connect().getConnection()) {
			String before = connectionsReceived(connection);
			assertThatException().isThrownBy(() -> WebApplication.start(Mistaken.class, redis).close());
			assertThat(connectionsReceived(connection)).isEqualTo(before);
		}
	}

	private static String connectionsReceived(RedisConnection connection) {
		Properties stats = Objects.requireNonNull(connection.serverCommands().info("stats"));
		return stats.getProperty("total_connections_received");
	}

	@RestController
	@EnableAutoConfiguration
	static class Mistaken {

		@Idempotent(lease = "abc")
		@PostMapping("/orders")
		void place() {
		}

	}

}
