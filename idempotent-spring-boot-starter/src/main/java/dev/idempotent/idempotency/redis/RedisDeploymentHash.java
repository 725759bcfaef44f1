package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.redis.LuaScript;
import org.springframework.dao.DataAccessException;

/**
 * What the applications that use the same prefix of keys stated about themselves when
 * they were last started: attributes by namespace, in one hash.
 */
public final class RedisDeploymentHash {

	private static final LuaScript SCRIPT = LuaScript.of(RedisDeploymentHash.class, "deployment.lua");

	private static final char SEPARATOR = '\n';

	private final IdempotencyRedisConnection connection;

	private final String name;

	/**
	 * Creates a hash.
	 * @param connection used for all commands
	 * @param keyPrefix the prefix of all Redis keys
	 */
	public RedisDeploymentHash(IdempotencyRedisConnection connection, String keyPrefix) {
		this.connection = connection;
		this.name = keyPrefix + "deployment";
	}

	/**
	 * The name of the hash.
	 * @return with the prefix of keys
	 */
	public String name() {
		return this.name;
	}

	/**
	 * Reads all attributes.
	 * @return by namespace
	 * @throws DataAccessException if Redis does not answer, or refuses a command
	 */
	public Map<String, Map<String, String>> read() {
		List<?> fields = run();
		Map<String, Map<String, String>> all = new HashMap<>();
		for (int i = 0; i + 1 < fields.size(); i += 2) {
			String field = text(fields.get(i));
			int end = field.lastIndexOf(SEPARATOR);
			all.computeIfAbsent(field.substring(0, Math.max(0, end)), (namespace) -> new HashMap<>())
				.put(field.substring(end + 1), text(fields.get(i + 1)));
		}
		return all;
	}

	/**
	 * Adds an attribute, unless another instance has added it.
	 * @param namespace whose attribute it is
	 * @param attribute the name of the attribute
	 * @param content its content, not empty
	 * @throws DataAccessException if Redis does not answer, or refuses a command
	 */
	public void add(String namespace, String attribute, String content) {
		replace(namespace, attribute, "", content);
	}

	/**
	 * Replaces an attribute, unless another instance has replaced it.
	 * @param namespace whose attribute it is
	 * @param attribute the name of the attribute
	 * @param before its content as it was read
	 * @param content its new content
	 * @throws DataAccessException if Redis does not answer, or refuses a command
	 */
	public void replace(String namespace, String attribute, String before, String content) {
		List<?> unused = run(namespace + SEPARATOR + attribute, before, content);
	}

	private List<?> run(String... arguments) {
		byte[][] encoded = new byte[arguments.length][];
		for (int i = 0; i < arguments.length; i++) {
			encoded[i] = arguments[i].getBytes(StandardCharsets.UTF_8);
		}
		return (List<?>) this.connection.run(SCRIPT, true, this.name.getBytes(StandardCharsets.UTF_8), encoded);
	}

	private static String text(Object reply) {
		return new String((byte[]) reply, StandardCharsets.UTF_8);
	}

}
