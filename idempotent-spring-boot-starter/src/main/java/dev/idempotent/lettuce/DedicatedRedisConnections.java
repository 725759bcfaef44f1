package dev.idempotent.lettuce;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connects to the application's standalone, Sentinel or Cluster servers, apart from the
 * application's own connections and with a time-out of its own.
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
	 * Prepares connections; connects only when asked to.
	 * @param application the application's factory, one that
	 * {@linkplain DedicatedClientSettings#knowServersOf says where it goes}
	 * @param timeout how long to wait for a connection and for each reply
	 * @return to be closed after use
	 */
	public static DedicatedRedisConnections to(LettuceConnectionFactory application, Duration timeout) {
		ClientResources resources = DedicatedClientSettings.resources(application.getClientResources());
		DetachedConnectionFactory factory = new DetachedConnectionFactory(DedicatedClientSettings.servers(application),
				DedicatedClientSettings.client(application.getClientConfiguration(), resources, timeout,
						(options) -> fleeting(options, application.isClusterAware())));
		factory.afterPropertiesSet();
		factory.start();
		return new DedicatedRedisConnections(factory, resources, timeout);
	}

	/**
	 * A connection that breaks is thrown away with its commands, which would be sent a
	 * second time on the next. That of a Cluster is many: they come back one by one.
	 */
	private static ClientOptions fleeting(ClientOptions options, boolean cluster) {
		return options.mutate().autoReconnect(cluster).build();
	}

	/**
	 * Connects.
	 * @return a connection to be closed after use
	 * @throws RedisException if there is none within the time-out
	 */
	public DedicatedRedisConnection connect() {
		CompletableFuture<StatefulConnection<byte[], byte[]>> opening = this.factory.open();
		try {
			return new DedicatedRedisConnection(opening.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS));
		}
		catch (ExecutionException ex) {
			throw new RedisConnectionException(DedicatedClientSettings.describe(ex), ex);
		}
		catch (TimeoutException ex) {
			giveUp(opening);
			throw new RedisConnectionException("Not connected to Redis within " + this.timeout, ex);
		}
		catch (InterruptedException ex) {
			giveUp(opening);
			Thread.currentThread().interrupt();
			throw new RedisConnectionException("Interrupted while connecting to Redis", ex);
		}
	}

	/**
	 * Throws a connection away that did not do as it should.
	 * @param connection not to be used any more
	 */
	public void discard(DedicatedRedisConnection connection) {
		connection.close();
		this.factory.refreshTopology();
	}

	/**
	 * How long to wait for a connection and for each reply.
	 * @return the time-out that was given
	 */
	public Duration timeout() {
		return this.timeout;
	}

	@Override
	public void close() {
		this.factory.destroy();
		Future<Boolean> unused = this.resources.shutdown(0, this.factory.getShutdownTimeout(), TimeUnit.MILLISECONDS);
	}

	private static void giveUp(CompletableFuture<StatefulConnection<byte[], byte[]>> opening) {
		CompletableFuture<Void> unused = opening.thenCompose(StatefulConnection::closeAsync);
	}

}
