package dev.idempotent.idempotency.redis;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import dev.idempotent.redis.DedicatedRedisConnection;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.redis.LuaScript;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * Native connections, which cost less than those of Spring Data that are created for each
 * command: one for all threads, or one for each use if replicas must confirm it, since
 * {@code WAIT} blocks the connection that wrote. Separate from its superclass, which must
 * link without Lettuce.
 */
final class LettuceClient extends IdempotencyRedisConnection {

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private final DedicatedRedisConnections connections;

	private final int replicas;

	private final Duration waitTimeout;

	LettuceClient(LettuceConnectionFactory application, Duration timeout, int replicas, Duration waitTimeout) {
		this.connections = DedicatedRedisConnections.to(application, timeout);
		this.replicas = replicas;
		this.waitTimeout = waitTimeout;
	}

	@Override
	Object run(LuaScript script, boolean withDetails, byte[] key, byte[]... arguments) {
		ScriptOutputType type = withDetails ? ScriptOutputType.MULTI : ScriptOutputType.VALUE;
		byte[][] keys = { key };
		try {
			return use((connection) -> {
				Object reply = connection.run(script, type, keys, arguments);
				if (this.replicas > 0 && mustSurviveFailover(reply)) {
					requireReplicas(connection);
				}
				return reply;
			});
		}
		catch (RedisException ex) {
			throw Objects.requireNonNull(EXCEPTIONS.convert(ex));
		}
	}

	private static boolean mustSurviveFailover(Object reply) {
		String outcome = RedisIdempotencyStore.outcome(reply);
		return outcome.equals("ACQUIRED") || outcome.equals("KEPT");
	}

	private void requireReplicas(DedicatedRedisConnection connection) {
		long confirmed = connection
			.await(connection.commands().waitForReplication(this.replicas, this.waitTimeout.toMillis()));
		if (confirmed < this.replicas) {
			throw new DataAccessResourceFailureException(
					"%d of the %d replicas that idempotent.redis.wait-replicas requires confirmed within %s"
						.formatted(confirmed, this.replicas, this.waitTimeout));
		}
	}

	@Override
	List<Properties> memory() {
		return use((connection) -> (connection
			.commands() instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)
					? cluster.upstream()
						.commands()
						.info("memory")
						.stream()
						.map(CompletableFuture::join)
						.map(LettuceClient::properties)
						.toList()
					: List.of(properties(connection.await(connection.commands().info("memory")))));
	}

	private static Properties properties(String info) {
		Properties properties = new Properties();
		try {
			properties.load(new StringReader(info));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return properties;
	}

	private <T> T use(Function<DedicatedRedisConnection, T> work) {
		return (this.replicas == 0) ? this.connections.useShared(work) : this.connections.use(work);
	}

	@Override
	String describe() {
		if (this.replicas == 0) {
			return "Redis";
		}
		return "Redis with " + this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

	@Override
	public void close() {
		this.connections.close();
	}

}
