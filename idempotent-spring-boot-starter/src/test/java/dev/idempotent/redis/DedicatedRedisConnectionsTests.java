package dev.idempotent.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DedicatedRedisConnections}.
 */
class DedicatedRedisConnectionsTests {

	private static final Duration TIMEOUT = Duration.ofMillis(200);

	private static final Duration LONG_TIMEOUT = Duration.ofSeconds(30);

	private static final Duration SHORT_TIMEOUT = Duration.ofMillis(50);

	private final ClientResources resources = ClientResources.create();

	@AfterEach
	void shutdown() throws Exception {
		this.resources.shutdown().get();
	}

	@Test
	void connectsToTheServersOfTheApplication() {
		RedisStandaloneConfiguration standalone = new RedisStandaloneConfiguration("redis.example", 6380);
		assertThat(DedicatedRedisConnections.servers(new LettuceConnectionFactory(standalone))).isSameAs(standalone);
		assertThatServersAreKept(new RedisSentinelConfiguration().master("name").sentinel("redis.example", 26379));
		assertThatServersAreKept(new RedisClusterConfiguration().clusterNode("redis.example", 6379));
		assertThatServersAreKept(new RedisSocketConfiguration("/run/redis.sock"));
	}

	@Test
	void keepsTheApplicationsNameAndTransportSecurity() {
		var application = LettuceClientConfiguration.builder().clientName("shop");
		application.useSsl().verifyPeer(SslVerifyMode.CA).startTls();
		LettuceClientConfiguration client = client(application.build());
		assertThat(client.getClientName()).hasValue("shop");
		assertThat(client.isUseSsl()).isTrue();
		assertThat(client.isStartTls()).isTrue();
		assertThat(client.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
	}

	@Test
	void keepsTheApplicationsOptionsExceptTimeouts() {
		ClientOptions application = ClientOptions.builder()
			.protocolVersion(ProtocolVersion.RESP2)
			.autoReconnect(true)
			.build();
		ClientOptions options = options(application);
		assertThat(options.getConfiguredProtocolVersion()).isEqualTo(ProtocolVersion.RESP2);
		assertThat(options.isAutoReconnect()).isFalse();
		assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
		assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(TIMEOUT);
		assertThat(options.getTimeoutOptions().isTimeoutCommands()).isTrue();
	}

	@Test
	void keepsTheApplicationsClusterOptions() {
		ClientOptions application = ClusterClientOptions.builder()
			.maxRedirects(7)
			.topologyRefreshOptions(
					ClusterTopologyRefreshOptions.builder().enablePeriodicRefresh(Duration.ofSeconds(9)).build())
			.build();
		ClientOptions options = options(application);
		assertThat(options).isInstanceOfSatisfying(ClusterClientOptions.class, (cluster) -> {
			assertThat(cluster.getMaxRedirects()).isEqualTo(7);
			assertThat(cluster.getTopologyRefreshOptions().getRefreshPeriod()).isEqualTo(Duration.ofSeconds(9));
		});
	}

	@Test
	void reconnectsToTheNodesOfAClusterOnly() {
		LettuceClientConfiguration application = LettuceClientConfiguration.defaultConfiguration();
		assertThat(DedicatedRedisConnections.settings(application, true, this.resources, TIMEOUT).getClientOptions())
			.hasValueSatisfying((options) -> assertThat(options.isAutoReconnect()).isTrue());
		assertThat(client(application).getClientOptions())
			.hasValueSatisfying((options) -> assertThat(options.isAutoReconnect()).isFalse());
	}

	@Test
	void sharesTheApplicationsThreadsAndKeepsThemAliveAfterShutdown() throws Exception {
		ClientResources own = DedicatedRedisConnections.resources(this.resources);
		assertThat(own.eventLoopGroupProvider()).isSameAs(this.resources.eventLoopGroupProvider());
		assertThat(own.shutdown().get()).isTrue();
		assertThat(this.resources.eventExecutorGroup().isShuttingDown()).isFalse();
		assertThat(this.resources.timer().newTimeout((timeout) -> {
		}, 1, TimeUnit.MILLISECONDS)).isNotNull();
	}

	@Test
	void reconnectsWithinASecond() {
		assertThat(DedicatedRedisConnections.resources(this.resources).reconnectDelay().createDelay(1_000))
			.isLessThanOrEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void reportsThatTheConnectionWasRefused() {
		try (DedicatedRedisConnections connections = DedicatedRedisConnections.to(refusing(), LONG_TIMEOUT)) {
			assertThatExceptionOfType(RedisConnectionException.class).isThrownBy(connections::connect)
				.withMessageStartingWith("Could not connect to Redis: Connection refused")
				.withMessageNotContaining("PT30S");
		}
	}

	@Test
	void reportsThatTheConnectionForKeysWasRefused() {
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(refusing(), LONG_TIMEOUT)) {
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

	private static void assertThatServersAreKept(RedisConfiguration servers) {
		assertThat(DedicatedRedisConnections.servers(new LettuceConnectionFactory(servers))).isSameAs(servers);
	}

	private ClientOptions options(ClientOptions application) {
		return client(LettuceClientConfiguration.builder().clientOptions(application).build()).getClientOptions()
			.orElseThrow();
	}

	private LettuceClientConfiguration client(LettuceClientConfiguration application) {
		return DedicatedRedisConnections.settings(application, false, this.resources, TIMEOUT);
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
