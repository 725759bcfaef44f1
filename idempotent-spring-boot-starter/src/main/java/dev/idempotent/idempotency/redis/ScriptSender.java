package dev.idempotent.idempotency.redis;

import org.springframework.dao.DataAccessException;

/**
 * A way to run scripts on the server.
 */
interface ScriptSender {

	/**
	 * Runs a script by its digest, and sends its text only to a server that does not know
	 * it.
	 * @param script the script
	 * @param key the one key of the script
	 * @param arguments the arguments of the script
	 * @return the reply: a {@code byte[]}, or a {@code List} of {@code byte[]} and
	 * {@code Long}
	 * @throws DataAccessException if there is no reply, or an error; the script may have
	 * run
	 */
	Object send(LuaScript script, byte[] key, byte[]... arguments);

}
