package dev.idempotent.idempotency.redis;

import java.util.concurrent.TimeUnit;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

/**
 * Runs scripts on a native connection, which costs less than one of Spring Data that is
 * created for each command.
 */
final class NativeScripts {

	private NativeScripts() {
	}

	/**
	 * Runs a script by its digest, or by its text if the server does not know it.
	 * @throws io.lettuce.core.RedisException if there is no reply, or an error
	 */
	static Object run(StatefulConnection<byte[], byte[]> connection, LuaScript script, byte[] key, byte[][] arguments) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(connection);
		ScriptOutputType type = script.repliesWithList() ? ScriptOutputType.MULTI : ScriptOutputType.VALUE;
		byte[][] keys = { key };
		try {
			return await(connection, commands.evalsha(script.digest(), type, keys, arguments));
		}
		catch (RedisNoScriptException ex) {
			return await(connection, commands.eval(script.text(), type, keys, arguments));
		}
	}

	private static Object await(StatefulConnection<byte[], byte[]> connection, RedisFuture<Object> reply) {
		return LettuceFutures.awaitOrCancel(reply, connection.getTimeout().toNanos(), TimeUnit.NANOSECONDS);
	}

	/**
	 * The commands that standalone servers and a Cluster have in common. In a Cluster,
	 * Lettuce sends a command to the master of its key, and follows redirections.
	 */
	private static RedisClusterAsyncCommands<byte[], byte[]> commands(StatefulConnection<byte[], byte[]> connection) {
		return (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) ? cluster.async()
				: ((StatefulRedisConnection<byte[], byte[]>) connection).async();
	}

}
