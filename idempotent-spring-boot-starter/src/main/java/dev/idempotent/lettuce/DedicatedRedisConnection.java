package dev.idempotent.lettuce;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.RedisCommand;

/**
 * A connection that nobody else uses. Throw it away after a time-out or a break: what it
 * answers then may belong to an earlier command.
 */
public final class DedicatedRedisConnection implements AutoCloseable {

	private final StatefulConnection<byte[], byte[]> connection;

	DedicatedRedisConnection(StatefulConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	/**
	 * The commands, each sent as soon as it is called.
	 * @return those that standalone servers and a Cluster have in common
	 */
	public RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return isCluster() ? ((StatefulRedisClusterConnection<byte[], byte[]>) this.connection).async()
				: ((StatefulRedisConnection<byte[], byte[]>) this.connection).async();
	}

	/**
	 * Sends commands with one flush; in a Cluster with one for each slot.
	 * @param batch in the order of sending
	 * @throws io.lettuce.core.RedisException if there is no connection to send some on
	 */
	public void dispatch(Collection<? extends RedisCommand<byte[], byte[], ?>> batch) {
		this.connection.dispatch(batch);
	}

	/**
	 * Tells whether it leads to the nodes of a Cluster.
	 * @return {@code false} for a standalone server or a master that Sentinels watch
	 */
	public boolean isCluster() {
		return this.connection instanceof StatefulRedisClusterConnection;
	}

	/**
	 * Tells whether it has not been noticed to be broken.
	 * @return always {@code true} in a Cluster, until it is closed
	 */
	public boolean isOpen() {
		return this.connection.isOpen();
	}

	@Override
	public void close() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

}
