package dev.idempotent.testing;

import java.io.IOException;
import java.util.List;

import dev.idempotent.testing.RedisServer.Embedded;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.Assert;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.embedded.Redis;
import redis.embedded.RedisShardedCluster;
import redis.embedded.core.RedisServerBuilder;

import static org.awaitility.Awaitility.await;

/**
 * A Cluster of three masters for a test class, from embedded binaries. Registered as a
 * static field; takes some seconds to start.
 */
public final class RealRedisCluster implements BeforeAllCallback, AfterAllCallback, RedisTopology {

	private @Nullable RedisShardedCluster cluster;

	private @Nullable LettuceConnectionFactory client;

	@Override
	public void beforeAll(ExtensionContext context) throws IOException {
		this.cluster = RedisShardedCluster.newRedisCluster()
			.withServerBuilder(new RedisServerBuilder().executableProvider(Embedded.executable()).setting("save \"\""))
			.serverPorts(List.of(Ports.free(), Ports.free(), Ports.free()))
			.shard("first", 0)
			.shard("second", 0)
			.shard("third", 0)
			.build();
		this.cluster.start();
		this.cluster.ports().forEach((port) -> await().until(() -> hasSettled(port)));
		this.client = new LettuceConnectionFactory(new RedisClusterConfiguration(nodes()));
		this.client.afterPropertiesSet();
	}

	@Override
	public void afterAll(ExtensionContext context) throws IOException {
		client().destroy();
		cluster().stop();
	}

	@Override
	public List<String> properties() {
		return List.of("spring.data.redis.cluster.nodes=" + String.join(",", nodes()));
	}

	/**
	 * The client of the test class.
	 */
	public LettuceConnectionFactory client() {
		Assert.state(this.client != null, "The Cluster is only there while its test class runs");
		return this.client;
	}

	/**
	 * Stops the master that has a key, while the others go on serving theirs.
	 */
	public void stopMasterOf(String key) throws IOException {
		for (Redis server : cluster().servers()) {
			try (Jedis node = new Jedis(Embedded.HOST, server.ports().get(0))) {
				node.configSet("cluster-require-full-coverage", "no");
			}
		}
		for (Redis server : cluster().servers()) {
			if (hasKey(server.ports().get(0), key)) {
				server.stop();
				return;
			}
		}
		throw new IllegalStateException("No node has " + key);
	}

	private static boolean hasKey(int port, String key) {
		try (Jedis node = new Jedis(Embedded.HOST, port)) {
			node.exists(key);
			return true;
		}
		catch (JedisRedirectionException ex) {
			return false;
		}
	}

	/**
	 * One that answers is not one that all others know of.
	 */
	private static boolean hasSettled(int port) {
		try (Jedis node = new Jedis(Embedded.HOST, port)) {
			return node.clusterInfo().contains("cluster_state:ok");
		}
	}

	private List<String> nodes() {
		return cluster().ports().stream().map((port) -> Embedded.HOST + ":" + port).toList();
	}

	private RedisShardedCluster cluster() {
		Assert.state(this.cluster != null, "The Cluster is only there while its test class runs");
		return this.cluster;
	}

}
