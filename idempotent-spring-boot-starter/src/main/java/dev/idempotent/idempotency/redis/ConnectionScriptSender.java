package dev.idempotent.idempotency.redis;

import java.util.Objects;

import dev.idempotent.redis.ErrorReply;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts on the connections of any client, without the proxies of a
 * {@code RedisTemplate}, and outside a Redis transaction of the application.
 */
final class ConnectionScriptSender implements ScriptSender {

	private static final Logger logger = LoggerFactory.getLogger(ConnectionScriptSender.class);

	private final RedisConnectionFactory factory;

	private final Step afterReply;

	ConnectionScriptSender(RedisConnectionFactory factory) {
		this(factory, (connection, script, reply) -> {
		});
	}

	/**
	 * Creates a sender with a step that follows each reply on the same connection.
	 */
	ConnectionScriptSender(RedisConnectionFactory factory, Step afterReply) {
		this.factory = factory;
		this.afterReply = afterReply;
	}

	@Override
	public Object send(LuaScript script, byte[] key, byte[]... arguments) {
		RedisConnection connection = this.factory.getConnection();
		try {
			Object reply = run(connection.scriptingCommands(), script, key, arguments);
			this.afterReply.run(connection, script, reply);
			return reply;
		}
		finally {
			close(connection);
		}
	}

	private static Object run(RedisScriptingCommands commands, LuaScript script, byte[] key, byte[][] arguments) {
		byte[][] values = new byte[1 + arguments.length][];
		values[0] = key;
		System.arraycopy(arguments, 0, values, 1, arguments.length);
		ReturnType type = script.repliesWithList() ? ReturnType.MULTI : ReturnType.VALUE;
		try {
			return Objects.requireNonNull(commands.evalSha(script.digest(), type, 1, values));
		}
		catch (RuntimeException ex) {
			if (!"NOSCRIPT".equals(ErrorReply.codeOf(ex))) {
				throw ex;
			}
			return Objects.requireNonNull(commands.eval(script.text(), type, 1, values));
		}
	}

	/**
	 * A failure must not hide the outcome, which is known.
	 */
	private static void close(RedisConnection connection) {
		try {
			connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("A Redis connection could not be closed", ex);
		}
	}

	/**
	 * A step on the connection that has run a script.
	 */
	interface Step {

		void run(RedisConnection connection, LuaScript script, Object reply);

	}

}
