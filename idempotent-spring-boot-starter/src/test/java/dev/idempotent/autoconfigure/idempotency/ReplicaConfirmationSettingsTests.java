package dev.idempotent.autoconfigure.idempotency;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyStore;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@code idempotent.redis.wait-replicas} without a Redis.
 */
class ReplicaConfirmationSettingsTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, IdempotencyAutoConfiguration.class))
		// Nothing listens on this port.
		.withPropertyValues("idempotent.namespace=shop", "spring.data.redis.port=1");

	@Test
	void waitsForNoReplicaByDefault() {
		this.application
			.run((context) -> assertThat(context.getBean(IdempotencyStore.class).describe()).isEqualTo("Redis"));
	}

	@Test
	void waitsForTheConfiguredReplicas() {
		this.application.withPropertyValues("idempotent.redis.wait-replicas=1")
			.run((context) -> assertThat(context.getBean(IdempotencyStore.class).describe())
				.isEqualTo("Redis with 1 replica"));
	}

	@Test
	void refusesToWaitForTheReplicasOfACluster() {
		this.application
			.withPropertyValues("idempotent.redis.wait-replicas=1", "spring.data.redis.cluster.nodes=127.0.0.1:1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining("wait-replicas needs Lettuce and a standalone or Sentinel Redis"));
	}

	@Test
	void refusesANegativeNumberOfReplicas() {
		assertRefused("idempotent.redis.wait-replicas is -1", "idempotent.redis.wait-replicas=-1");
	}

	@Test
	void refusesToWaitForReplicasLongerThanForRedis() {
		assertRefused("is not shorter than idempotent.redis.timeout", "idempotent.redis.wait-replicas=1",
				"idempotent.redis.wait-timeout=500ms");
	}

	private void assertRefused(String message, String... properties) {
		this.application.withPropertyValues(properties)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.hasMessageContaining(message));
	}

}
