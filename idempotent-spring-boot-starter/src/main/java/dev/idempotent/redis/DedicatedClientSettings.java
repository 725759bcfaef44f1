package dev.idempotent.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The application's Lettuce settings, adapted to callers that wait for each reply: short
 * timeouts, no command queue while disconnected, and a new connection instead of
 * reconnecting.
 */
public final class DedicatedClientSettings {

	private static final Delay RECONNECT_DELAY = Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 1,
			TimeUnit.MILLISECONDS);

	private DedicatedClientSettings() {
	}

	/**
	 * Returns whether the servers of a factory can be determined. A factory that was
	 * created with a plain {@code RedisConfiguration} reports a default configuration
	 * instead.
	 * @param application the application's factory
	 * @return whether {@link #servers} returns those that the factory connects to
	 */
	public static boolean hasKnownServers(LettuceConnectionFactory application) {
		RedisStandaloneConfiguration standalone = application.getStandaloneConfiguration();
		return application.isClusterAware() || application.isRedisSentinelAware()
				|| application.getSocketConfiguration() != null
				|| (application.getHostName().equals(standalone.getHostName())
						&& application.getPort() == standalone.getPort());
	}

	/**
	 * The servers that the application connects to.
	 * @param application a factory that {@linkplain #hasKnownServers has known servers}
	 * @return the factory's configuration
	 */
	public static RedisConfiguration servers(LettuceConnectionFactory application) {
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

	/**
	 * Client resources that share the application's threads but reconnect within a
	 * second. Copied part by part, because resources from {@code mutate()} would shut
	 * down the application's threads.
	 * @param application the application's resources, or {@code null} for the defaults
	 * @return resources to shut down after use
	 */
	public static ClientResources resources(@Nullable ClientResources application) {
		ClientResources.Builder resources = ClientResources.builder().reconnectDelay(RECONNECT_DELAY);
		if (application != null) {
			resources.addressResolverGroup(application.addressResolverGroup())
				.commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled())
				.commandLatencyRecorder(application.commandLatencyRecorder())
				.eventBus(application.eventBus())
				.eventExecutorGroup(application.eventExecutorGroup())
				.eventLoopGroupProvider(application.eventLoopGroupProvider())
				.nettyCustomizer(application.nettyCustomizer())
				.socketAddressResolver(application.socketAddressResolver())
				.timer(application.timer())
				.tracing(application.tracing());
		}
		return resources.build();
	}

	/**
	 * The application's client configuration with a separate timeout. A closed connection
	 * is not reconnected, except to the nodes of a Cluster: Lettuce would send its
	 * commands a second time and log each attempt.
	 * @param application the application's configuration
	 * @param cluster whether the servers are a Cluster
	 * @param resources the resources to use
	 * @param timeout the timeout of connecting and of each command
	 * @return the configuration of a client
	 */
	public static LettuceClientConfiguration client(LettuceClientConfiguration application, boolean cluster,
			ClientResources resources, Duration timeout) {
		var client = LettuceClientConfiguration.builder()
			// Longer than the timeout option below: only that one notifies listeners.
			.commandTimeout(timeout.multipliedBy(2))
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(application.getShutdownQuietPeriod())
			.clientResources(resources)
			.clientOptions(options(application.getClientOptions().orElseGet(ClientOptions::create), cluster, timeout));
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

	/**
	 * Describes why connecting failed.
	 * @param failure the exception
	 * @return a message with the root cause, which the outer exceptions lack
	 */
	public static String describe(Throwable failure) {
		Throwable reason = failure;
		while (reason.getCause() != null) {
			reason = reason.getCause();
		}
		String message = reason.getMessage();
		return "Could not connect to Redis: " + ((message != null) ? message : reason.getClass().getName());
	}

	private static ClientOptions options(ClientOptions application, boolean cluster, Duration timeout) {
		return application.mutate()
			.autoReconnect(cluster)
			.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
			.socketOptions(application.getSocketOptions().mutate().connectTimeout(timeout).build())
			.timeoutOptions(TimeoutOptions.enabled(timeout))
			.build();
	}

}
