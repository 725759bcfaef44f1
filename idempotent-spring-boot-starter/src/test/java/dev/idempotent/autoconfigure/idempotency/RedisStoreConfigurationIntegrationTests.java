package dev.idempotent.autoconfigure.idempotency;

import java.util.Objects;
import java.util.Properties;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link RedisStoreConfiguration} with a Redis.
 */
class RedisStoreConfigurationIntegrationTests {

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

	@Test
	void usesALettuceFactoryAsItIsThatDoesNotTellWhereItGoes() {
		RedisConfiguration servers = new RedisStandaloneConfiguration(redis.host(), redis.port());
		new WebApplicationContextRunner().withPropertyValues("idempotent.namespace=shop")
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withBean(RedisConnectionFactory.class,
					() -> new LettuceConnectionFactory(servers, LettuceClientConfiguration.defaultConfiguration()))
			.run((context) -> {
				assertThat(context).hasSingleBean(IdempotencyRedisConnection.class);
				assertThat(context.getBean(IdempotencyStore.class).release(Samples.key(), "unknown")).isTrue();
			});
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
