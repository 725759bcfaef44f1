package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import dev.idempotent.redis.DedicatedClientSettings;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A started Lettuce factory together with its client resources. Separate from
 * {@link IdempotencyRedisConnection}, which must link without Lettuce.
 */
final class DedicatedConnectionFactory {

	private final LettuceConnectionFactory factory;

	private final ClientResources resources;

	private DedicatedConnectionFactory(LettuceConnectionFactory factory, ClientResources resources) {
		this.factory = factory;
		this.resources = resources;
		factory.afterPropertiesSet();
		factory.start();
	}

	static DedicatedConnectionFactory prompt(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		return new DedicatedConnectionFactory(new SharedConnectionFactory(
				DedicatedClientSettings.servers(application), DedicatedClientSettings
					.client(application.getClientConfiguration(), application.isClusterAware(), resources, timeout),
				timeout), resources);
	}

	static DedicatedConnectionFactory exclusive(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		return new DedicatedConnectionFactory(
				new ExclusiveConnectionFactory(DedicatedClientSettings.servers(application), DedicatedClientSettings
					.client(application.getClientConfiguration(), application.isClusterAware(), resources, timeout)),
				resources);
	}

	RedisConnectionFactory factory() {
		return this.factory;
	}

	void close() {
		this.factory.destroy();
		Future<Boolean> unused = this.resources.shutdown(0, this.factory.getShutdownTimeout(), TimeUnit.MILLISECONDS);
	}

}
