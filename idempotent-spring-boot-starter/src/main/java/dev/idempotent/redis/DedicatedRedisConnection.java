package dev.idempotent.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.RedisCommand;

/**
 * A native connection. One with a single user is to be discarded after a timeout or an
 * interruption: its next reply may belong to an earlier command.
 */
public final class DedicatedRedisConnection implements AutoCloseable {

	/**
	 * A server that remains a replica must not cost a new connection for each command.
	 */
	private static final Duration MIN_AGE = Duration.ofMillis(500);

	private final StatefulConnection<byte[], byte[]> connection;

	private final Duration timeout;

	private final long opened = System.nanoTime();

	DedicatedRedisConnection(StatefulConnection<byte[], byte[]> connection, Duration timeout) {
		this.connection = connection;
		this.timeout = timeout;
	}

	/**
	 * The commands that standalone servers and a Cluster have in common. In a Cluster,
	 * Lettuce sends a command to the master of its key, and follows redirections.
	 * @return the API, which sends each command at once
	 */
	public RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return isCluster() ? ((StatefulRedisClusterConnection<byte[], byte[]>) this.connection).async()
				: ((StatefulRedisConnection<byte[], byte[]>) this.connection).async();
	}

	/**
	 * Waits for a reply until the timeout of the connection.
	 * @param <T> the type of the reply
	 * @param reply the reply to a command of this connection
	 * @return the reply
	 * @throws RedisException if there is none, or an error
	 */
	public <T> T await(RedisFuture<T> reply) {
		return LettuceFutures.awaitOrCancel(reply, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	/**
	 * Runs a script by its digest, or by its text if the server does not know it.
	 * @param script the script
	 * @param type how to read the reply
	 * @param keys the keys, all of one slot
	 * @param arguments the arguments
	 * @return the reply
	 * @throws RedisException if there is none, or an error; the script may have run
	 */
	public Object run(LuaScript script, ScriptOutputType type, byte[][] keys, byte[]... arguments) {
		try {
			return await(commands().evalsha(script.digest(), type, keys, arguments));
		}
		catch (RedisNoScriptException ex) {
			return await(commands().eval(script.text(), type, keys, arguments));
		}
	}

	/**
	 * Sends commands with one flush, or in a Cluster with one for each slot.
	 * @param batch the commands in their order
	 * @throws RedisException if a command cannot be sent
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

	/**
	 * Returns whether a new connection may be accepted where a command of this one was
	 * rejected.
	 * @param failure the failure of the command
	 * @return {@code false} also if this one is new
	 */
	public boolean isAtWrongServer(Throwable failure) {
		return System.nanoTime() - this.opened >= MIN_AGE.toNanos() && ErrorReply.requiresReconnect(failure);
	}

	@Override
	public void close() {
		CompletableFuture<Void> unused = this.connection.closeAsync();
	}

}
