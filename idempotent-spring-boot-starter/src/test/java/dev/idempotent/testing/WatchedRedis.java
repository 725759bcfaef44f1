package dev.idempotent.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.testing.RedisServer.Embedded;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.Assert;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisSentinelBuilder;
import redis.embedded.core.RedisServerBuilder;

import static org.awaitility.Awaitility.await;

/**
 * A master and its replica for a test class, watched by a Sentinel that lets the replica
 * take over half a second after the master is gone. Registered as a static field.
 */
public final class WatchedRedis implements BeforeAllCallback, AfterAllCallback, RedisTopology {

	private static final String NAME = "watched";

	private final int masterPort = Ports.free();

	private final int replicaPort = Ports.free();

	private final int sentinelPort = Ports.free();

	private @Nullable RedisServer master;

	private @Nullable RedisServer replica;

	private @Nullable RedisSentinel sentinel;

	private @Nullable LettuceConnectionFactory client;

	@Override
	public void beforeAll(ExtensionContext context) throws IOException {
		this.master = server(this.masterPort).build();
		this.master.start();
		this.replica = server(this.replicaPort).slaveOf(Embedded.HOST, this.masterPort).build();
		startReplica();
		this.sentinel = new RedisSentinelBuilder().executableProvider(Embedded.executable())
			.port(this.sentinelPort)
			.masterName(NAME)
			.masterPort(this.masterPort)
			.downAfterMilliseconds(500)
			.failOverTimeout(3_000)
			.build();
		this.sentinel.start();
		this.client = new LettuceConnectionFactory(
				new RedisSentinelConfiguration().master(NAME).sentinel(Embedded.HOST, this.sentinelPort));
		this.client.afterPropertiesSet();
	}

	@Override
	public void afterAll(ExtensionContext context) throws IOException {
		client().destroy();
		require(this.sentinel).stop();
		stopReplica();
		killMaster();
	}

	@Override
	public List<String> properties() {
		return List.of("spring.data.redis.sentinel.master=" + NAME,
				"spring.data.redis.sentinel.nodes=" + Embedded.HOST + ":" + this.sentinelPort);
	}

	/**
	 * The client of the test class, which goes to whoever is the master.
	 */
	public LettuceConnectionFactory client() {
		return require(this.client);
	}

	/**
	 * Ends the master without a word.
	 */
	public void killMaster() throws IOException {
		require(this.master).stop();
	}

	public void stopReplica() throws IOException {
		require(this.replica).stop();
	}

	/**
	 * Starts the replica and waits until it confirms what its master writes.
	 */
	public void startReplica() throws IOException {
		require(this.replica).start();
		try (Jedis connection = new Jedis(Embedded.HOST, this.masterPort)) {
			await().until(() -> {
				connection.set("written", "now");
				connection.del("written");
				return connection.waitReplicas(1, 100) == 1;
			});
		}
	}

	/**
	 * Lets the replica fall silent for some seconds while it stays connected.
	 */
	public void stallReplica() {
		Thread thread = new Thread(() -> {
			try (Jedis connection = new Jedis(Embedded.HOST, this.replicaPort, 10_000)) {
				connection.sendCommand(() -> "DEBUG".getBytes(StandardCharsets.US_ASCII), "SLEEP", "4");
			}
		});
		thread.setDaemon(true);
		thread.start();
		await().until(() -> !replicaAnswers());
	}

	private boolean replicaAnswers() {
		try (Jedis connection = new Jedis(Embedded.HOST, this.replicaPort, 100)) {
			connection.ping();
			return true;
		}
		catch (JedisConnectionException ex) {
			return false;
		}
	}

	private static RedisServerBuilder server(int port) {
		return new RedisServerBuilder().executableProvider(Embedded.executable())
			.port(port)
			.setting("save \"\"")
			.setting("repl-diskless-sync yes")
			.setting("repl-diskless-sync-delay 0")
			.onShutdownForceStop(true);
	}

	private static <T> T require(@Nullable T part) {
		Assert.state(part != null, "The servers are only there while their test class runs");
		return part;
	}

}
