package dev.idempotent.redis;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.RedisCommand;

/**
 * A connection with a single user. Discard it after a timeout or an interruption: its
 * next reply may belong to an earlier command.
 */
public final class DedicatedRedisConnection implements AutoCloseable {

	private final StatefulConnection<byte[], byte[]> connection;

	DedicatedRedisConnection(StatefulConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	/**
	 * The commands that standalone servers and a Cluster have in common.
	 * @return the API, which sends each command at once
	 */
	public RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return isCluster() ? ((StatefulRedisClusterConnection<byte[], byte[]>) this.connection).async()
				: ((StatefulRedisConnection<byte[], byte[]>) this.connection).async();
	}

	/**
	 * Sends commands with one flush, or in a Cluster with one for each slot.
	 * @param batch the commands in their order
	 * @throws io.lettuce.core.RedisException if a command cannot be sent
	 */
	public void dispatch(Collection<? extends RedisCommand<byte[], byte[], ?>> batch) {
		this.connection.dispatch(batch);
	}

	/**
	 * Returns whether this is a connection to a Cluster.
	 * @return {@code false} for a standalone server or a master behind Sentinels
	 */
	public boolean isCluster() {
		return this.connection instanceof StatefulRedisClusterConnection;
	}

	/**
	 * Returns whether the connection is open, as far as is known.
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
