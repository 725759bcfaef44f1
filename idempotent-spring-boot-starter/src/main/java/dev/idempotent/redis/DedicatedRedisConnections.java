package dev.idempotent.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Opens connections to the application's standalone, Sentinel or Cluster servers,
 * separate from the application's connections and with a separate timeout.
 */
public final class DedicatedRedisConnections implements AutoCloseable {

	private final DetachedConnectionFactory factory;

	private final ClientResources resources;

	private final Duration timeout;

	private DedicatedRedisConnections(DetachedConnectionFactory factory, ClientResources resources, Duration timeout) {
		this.factory = factory;
		this.resources = resources;
		this.timeout = timeout;
	}

	/**
	 * Creates a factory of connections; does not connect yet.
	 * @param application the application's factory, one that
	 * {@linkplain DedicatedClientSettings#hasKnownServers has known servers}
	 * @param timeout the timeout of connecting and of each command
	 * @return connections to be closed after use
	 */
	public static DedicatedRedisConnections to(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		DetachedConnectionFactory factory = new DetachedConnectionFactory(DedicatedClientSettings.servers(application),
				DedicatedClientSettings.client(application.getClientConfiguration(), application.isClusterAware(),
						resources, timeout));
		factory.afterPropertiesSet();
		factory.start();
		return new DedicatedRedisConnections(factory, resources, timeout);
	}

	/**
	 * Connects.
	 * @return a connection to be closed after use
	 * @throws RedisException if connecting fails or times out
	 */
	public DedicatedRedisConnection connect() {
		return connect(this.timeout);
	}

	/**
	 * Connects.
	 * @param wait the longest wait
	 * @return a connection to be closed after use
	 * @throws RedisException if connecting fails or times out
	 */
	public DedicatedRedisConnection connect(Duration wait) {
		CompletableFuture<StatefulConnection<byte[], byte[]>> opening = this.factory.open();
		try {
			return new DedicatedRedisConnection(opening.get(wait.toNanos(), TimeUnit.NANOSECONDS));
		}
		catch (ExecutionException ex) {
			throw new RedisConnectionException(DedicatedClientSettings.describe(ex), ex);
		}
		catch (TimeoutException ex) {
			closeOnceOpen(opening);
			throw new RedisConnectionException("Not connected to Redis within " + wait, ex);
		}
		catch (InterruptedException ex) {
			closeOnceOpen(opening);
			Thread.currentThread().interrupt();
			throw new RedisConnectionException("Interrupted while connecting to Redis", ex);
		}
	}

	/**
	 * Closes a connection after a failure, and refreshes the topology of a Cluster.
	 * @param connection not to be used any more
	 */
	public void discard(DedicatedRedisConnection connection) {
		connection.close();
		this.factory.refreshTopology();
	}

	/**
	 * The timeout of connecting and of each command.
	 * @return the timeout
	 */
	public Duration timeout() {
		return this.timeout;
	}

	@Override
	public void close() {
		this.factory.destroy();
		Future<Boolean> unused = this.resources.shutdown(0, this.factory.getShutdownTimeout(), TimeUnit.MILLISECONDS);
	}

	private static void closeOnceOpen(CompletableFuture<StatefulConnection<byte[], byte[]>> opening) {
		CompletableFuture<Void> unused = opening.thenCompose(StatefulConnection::closeAsync);
	}

}
