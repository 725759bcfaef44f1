package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Lettuce factory that does not tell where it goes.
 */
class PlainlyConfiguredLettuceIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Test
	void isUsedAsItIs() {
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

}
