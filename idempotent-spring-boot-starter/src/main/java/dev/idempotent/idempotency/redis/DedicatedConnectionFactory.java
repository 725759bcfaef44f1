package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import dev.idempotent.lettuce.DedicatedClientSettings;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes the connections of our own. Apart from {@link IdempotencyRedisConnection}, which
 * must link in an application without Lettuce.
 */
final class LettuceConnections {

	private LettuceConnections() {
	}

	static IdempotencyRedisConnection prompt(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		PromptConnectionFactory factory = new PromptConnectionFactory(DedicatedClientSettings.servers(application),
				DedicatedClientSettings.client(application.getClientConfiguration(), resources, timeout), timeout);
		return started(factory, resources);
	}

	static IdempotencyRedisConnection exclusive(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		ExclusiveConnectionFactory factory = new ExclusiveConnectionFactory(
				DedicatedClientSettings.servers(application),
				DedicatedClientSettings.client(application.getClientConfiguration(), resources, timeout));
		return started(factory, resources);
	}

	private static IdempotencyRedisConnection started(LettuceConnectionFactory factory, ClientResources resources) {
		factory.afterPropertiesSet();
		factory.start();
		return new IdempotencyRedisConnection(factory, () -> {
			factory.destroy();
			Future<Boolean> unused = resources.shutdown(0, factory.getShutdownTimeout(), TimeUnit.MILLISECONDS);
		});
	}

}
