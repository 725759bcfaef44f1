package dev.idempotent.idempotency.redis;

import java.time.Duration;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A connection to the application's Redis with a time-out of its own, so that an
 * unreachable Redis holds a request for milliseconds and not for the application's
 * time-out (Lettuce's default is a minute).
 */
public final class IdempotencyRedisConnection implements AutoCloseable {

	private final RedisConnectionFactory factory;

	private final @Nullable LettuceConnectionFactory owned;

	private IdempotencyRedisConnection(RedisConnectionFactory factory, @Nullable LettuceConnectionFactory owned) {
		this.factory = factory;
		this.owned = owned;
	}

	/**
	 * Uses a factory as it is, with the time-out that it has.
	 * @param application the application's factory
	 * @return the connection
	 */
	public static IdempotencyRedisConnection shared(RedisConnectionFactory application) {
		return new IdempotencyRedisConnection(application, null);
	}

	/**
	 * Connects to the same standalone, Sentinel or Cluster servers again.
	 * @param application the application's factory, not one for static master and replica
	 * nodes
	 * @param timeout how long to wait for a connection and for each reply
	 * @return the connection
	 */
	public static IdempotencyRedisConnection withTimeout(LettuceConnectionFactory application, Duration timeout) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(servers(application),
				client(application.getClientConfiguration(), application.isClusterAware(), timeout));
		factory.setValidateConnection(application.getValidateConnection());
		factory.afterPropertiesSet();
		factory.start();
		return new IdempotencyRedisConnection(factory, factory);
	}

	public RedisConnectionFactory factory() {
		return this.factory;
	}

	@Override
	public void close() {
		if (this.owned != null) {
			this.owned.destroy();
		}
	}

	private static RedisConfiguration servers(LettuceConnectionFactory application) {
		if (application.getClusterConfiguration() != null) {
			return application.getClusterConfiguration();
		}
		if (application.getSentinelConfiguration() != null) {
			return application.getSentinelConfiguration();
		}
		if (application.getSocketConfiguration() != null) {
			return application.getSocketConfiguration();
		}
		return application.getStandaloneConfiguration();
	}

	private static LettuceClientConfiguration client(LettuceClientConfiguration application, boolean cluster,
			Duration timeout) {
		var client = LettuceClientConfiguration.builder()
			.commandTimeout(timeout)
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(application.getShutdownQuietPeriod())
			.clientOptions(options(application, cluster, timeout));
		application.getClientResources().ifPresent(client::clientResources);
		application.getClientName().ifPresent(client::clientName);
		application.getRedisCredentialsProviderFactory().ifPresent(client::redisCredentialsProviderFactory);
		if (application.isUseSsl()) {
			var ssl = client.useSsl().verifyPeer(application.getVerifyMode());
			if (application.isStartTls()) {
				ssl.startTls();
			}
		}
		return client.build();
	}

	private static ClientOptions options(LettuceClientConfiguration application, boolean cluster, Duration timeout) {
		ClientOptions options = application.getClientOptions()
			.orElseGet(() -> cluster ? ClusterClientOptions.create() : ClientOptions.create());
		return options.mutate()
			.socketOptions(options.getSocketOptions().mutate().connectTimeout(timeout).build())
			.timeoutOptions(TimeoutOptions.enabled(timeout))
			.build();
	}

}
