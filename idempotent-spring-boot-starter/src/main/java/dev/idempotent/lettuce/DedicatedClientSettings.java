package dev.idempotent.lettuce;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

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
 * The application's settings for Lettuce, changed where somebody waits for the outcome:
 * short time-outs, no queue while disconnected, and reconnecting within a second.
 */
public final class DedicatedClientSettings {

	private static final Delay RECONNECT_DELAY = Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 1,
			TimeUnit.MILLISECONDS);

	private DedicatedClientSettings() {
	}

	/**
	 * Tells whether the application's factory says where it goes. One that was given its
	 * servers as a plain {@code RedisConfiguration} tells a default instead when it is
	 * asked for them.
	 * @param application the application's factory
	 * @return whether {@link #servers} are those that it connects to
	 */
	public static boolean knowServersOf(LettuceConnectionFactory application) {
		RedisStandaloneConfiguration standalone = application.getStandaloneConfiguration();
		return application.isClusterAware() || application.isRedisSentinelAware()
				|| application.getSocketConfiguration() != null
				|| (application.getHostName().equals(standalone.getHostName())
						&& application.getPort() == standalone.getPort());
	}

	/**
	 * The servers that the application connects to.
	 * @param application a factory that says where it goes
	 * @return its own configuration
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
	 * The application's threads with a reconnect delay of our own. Built part by part:
	 * what {@code mutate()} gives would end the application's threads when it is shut
	 * down.
	 * @param application the application's, or {@code null} if it has none of its own
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
	 * The application's way to its servers, with a time-out of our own.
	 * @param application the application's
	 * @param resources ours
	 * @param timeout how long to wait for a connection and for each reply
	 * @return the configuration of a client
	 */
	public static LettuceClientConfiguration client(LettuceClientConfiguration application, ClientResources resources,
			Duration timeout) {
		return client(application, resources, timeout, UnaryOperator.identity());
	}

	/**
	 * Says why no connection was made.
	 * @param failure what connecting has ended in
	 * @return the innermost reason: the others only say that there is none
	 */
	public static String describe(Throwable failure) {
		Throwable reason = failure;
		while (reason.getCause() != null) {
			reason = reason.getCause();
		}
		String message = reason.getMessage();
		return "Could not connect to Redis: " + ((message != null) ? message : reason.getClass().getName());
	}

	static LettuceClientConfiguration client(LettuceClientConfiguration application, ClientResources resources,
			Duration timeout, UnaryOperator<ClientOptions> changes) {
		var client = LettuceClientConfiguration.builder()
			// Longer than Lettuce's own below, which alone is told to listeners.
			.commandTimeout(timeout.multipliedBy(2))
			.shutdownTimeout(application.getShutdownTimeout())
			.shutdownQuietPeriod(application.getShutdownQuietPeriod())
			.clientResources(resources)
			.clientOptions(
					changes.apply(options(application.getClientOptions().orElseGet(ClientOptions::create), timeout)));
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

	private static ClientOptions options(ClientOptions application, Duration timeout) {
		return application.mutate()
			.autoReconnect(true)
			.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
			.socketOptions(application.getSocketOptions().mutate().connectTimeout(timeout).build())
			.timeoutOptions(TimeoutOptions.enabled(timeout))
			.build();
	}

}
