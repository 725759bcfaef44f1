package dev.idempotent.benchmark.micro;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import dev.idempotent.idempotency.redis.RedisIdempotencyStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A claim and its release on Redis, beside two scripts that plain Lettuce sends to set
 * and delete a key.
 */
@State(Scope.Benchmark)
public class ClaimMicro {

	/**
	 * The system property with the URL of Redis.
	 */
	static final String REDIS = "benchmark.redis-url";

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Fingerprint FINGERPRINT = Fingerprint.of(List.of(new byte[] { 1 }));

	private static final String SET = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";

	private static final String DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";

	private @Nullable LettuceConnectionFactory servers;

	private @Nullable IdempotencyRedisConnection connection;

	private @Nullable IdempotencyStore store;

	private @Nullable RedisClient client;

	private @Nullable RedisCommands<String, String> commands;

	private String set = "";

	private String delete = "";

	/**
	 * Connects.
	 */
	@Setup
	public void connect() {
		RedisURI url = RedisURI.create(System.getProperty(REDIS, "redis://127.0.0.1:6379"));
		this.servers = new LettuceConnectionFactory(url.getHost(), url.getPort());
		this.servers.afterPropertiesSet();
		this.servers.start();
		this.connection = IdempotencyRedisConnection.withTimeout(this.servers, LEASE);
		this.store = new RedisIdempotencyStore(this.connection, "micro:");
		this.client = RedisClient.create(url);
		this.commands = this.client.connect().sync();
		this.set = this.commands.scriptLoad(SET.getBytes(StandardCharsets.US_ASCII));
		this.delete = this.commands.scriptLoad(DELETE.getBytes(StandardCharsets.US_ASCII));
	}

	/**
	 * Disconnects.
	 */
	@TearDown
	public void disconnect() {
		if (this.connection != null && this.servers != null && this.client != null) {
			this.connection.close();
			this.servers.destroy();
			this.client.shutdown();
		}
	}

	/**
	 * A claim and its release by the store.
	 * @return the claim
	 */
	@Benchmark
	public @Nullable Claim store() {
		if (this.store == null) {
			return null;
		}
		String token = UUID.randomUUID().toString();
		IdempotencyKey key = new IdempotencyKey(token);
		Claim claim = this.store.claim(key, FINGERPRINT, token, LEASE);
		this.store.release(key, token);
		return claim;
	}

	/**
	 * The same number of scripts by plain Lettuce.
	 * @return the reply to the first one
	 */
	@Benchmark
	public @Nullable String lettuce() {
		if (this.commands == null) {
			return null;
		}
		String token = UUID.randomUUID().toString();
		String[] keys = { "plain:" + token };
		String reply = this.commands.evalsha(this.set, ScriptOutputType.STATUS, keys, token, "30000");
		this.commands.<Long>evalsha(this.delete, ScriptOutputType.INTEGER, keys, token);
		return reply;
	}

}
