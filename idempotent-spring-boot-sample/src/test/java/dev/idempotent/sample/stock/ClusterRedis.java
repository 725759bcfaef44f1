package dev.idempotent.sample.stock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.embedded.RedisServer;

/**
 * A Redis Cluster of one node, which refuses scripts whose keys are in several slots.
 */
final class ClusterRedis implements AutoCloseable {

	private static final int SLOTS = 16384;

	private static final int BUS_OFFSET = 10_000;

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final int port = freePort();

	private final RedisServer server;

	private final LettuceConnectionFactory connections;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> node;

	private ClusterRedis(Path folder) throws IOException {
		this.server = RedisServer.newRedisServer()
			.port(this.port)
			.bind("127.0.0.1")
			.setting("dir " + folder)
			.setting("save \"\"")
			.setting("cluster-enabled yes")
			.setting("cluster-announce-ip 127.0.0.1")
			.build();
		this.server.start();
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", this.port));
		this.node = this.client.connect();
		commands().clusterAddSlots(IntStream.range(0, SLOTS).toArray());
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.until(() -> commands().clusterInfo().contains("cluster_state:ok"));
		this.connections = new LettuceConnectionFactory(
				new RedisClusterConfiguration(List.of("127.0.0.1:" + this.port)),
				LettuceClientConfiguration.builder().commandTimeout(TIMEOUT).build());
		this.connections.start();
	}

	static ClusterRedis start(Path folder) {
		try {
			return new ClusterRedis(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	int port() {
		return this.port;
	}

	StringRedisTemplate template() {
		return new StringRedisTemplate(this.connections);
	}

	/**
	 * Returns commands that reach the node by itself.
	 */
	RedisCommands<String, String> commands() {
		return this.node.sync();
	}

	@Override
	public void close() throws IOException {
		this.connections.destroy();
		this.node.close();
		this.client.shutdown();
		this.server.stop();
	}

	/**
	 * The nodes of a cluster talk on a second port.
	 */
	private static int freePort() {
		InetAddress loopback = InetAddress.getLoopbackAddress();
		while (true) {
			try (ServerSocket first = new ServerSocket(0, 1, loopback);
					ServerSocket bus = new ServerSocket(first.getLocalPort() + BUS_OFFSET, 1, loopback)) {
				return bus.getLocalPort() - BUS_OFFSET;
			}
			catch (IOException | IllegalArgumentException ex) {
				// The second port is in use or too high.
			}
		}
	}

}
