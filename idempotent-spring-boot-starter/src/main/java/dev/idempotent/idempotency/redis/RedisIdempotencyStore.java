package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Keeps each key as one Redis string with an expiry; every operation is one Lua script
 * and one round trip. Needs Redis 6.2 or Valkey with {@code maxmemory-policy noeviction}.
 */
public final class RedisIdempotencyStore implements IdempotencyStore {

	private final ScriptSender scripts;

	private final String keyPrefix;

	private final String description;

	/**
	 * Creates a store.
	 * @param connectionFactory used for all commands; its timeout limits how long a
	 * request waits for an unreachable Redis
	 * @param keyPrefix the prefix of all Redis keys
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix) {
		this((connectionFactory instanceof ScriptSender sender) ? sender
				: new ConnectionScriptSender(connectionFactory), keyPrefix, "Redis");
	}

	/**
	 * Creates a store that grants or completes a key only once replicas have it, so that
	 * a failover to one of them does not lose it. Without their confirmation, the outcome
	 * is unknown and the operation throws {@link IdempotencyStoreUnavailableException}.
	 * @param connection one with {@linkplain IdempotencyRedisConnection#exclusive
	 * exclusive} connections
	 * @param keyPrefix the prefix of all Redis keys
	 * @param replicas how many replicas must confirm a write, at least 1
	 * @param timeout how long to wait for them, shorter than the connection's timeout
	 */
	public RedisIdempotencyStore(IdempotencyRedisConnection connection, String keyPrefix, int replicas,
			Duration timeout) {
		this(connection.factory(), keyPrefix, new ReplicaConfirmation(replicas, timeout));
	}

	private RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix,
			ReplicaConfirmation replicas) {
		this(new ConnectionScriptSender(connectionFactory, replicas), keyPrefix, "Redis with " + replicas);
	}

	private RedisIdempotencyStore(ScriptSender scripts, String keyPrefix, String description) {
		this.scripts = scripts;
		this.keyPrefix = keyPrefix;
		this.description = description;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		List<?> reply = (List<?>) run(LuaScript.CLAIM, key, RedisValue.pending(token, fingerprint), millis(lease));
		String outcome = LuaScript.CLAIM.outcome(reply);
		return switch (outcome) {
			case "ACQUIRED" -> new Claim.Acquired();
			case "PENDING" -> new Claim.Pending(remaining(reply));
			case "COMPLETED" -> new Claim.Completed(value(key, reply).response(), remaining(reply));
			case "MISMATCHED" -> new Claim.Mismatched();
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return accepted(LuaScript.COMPLETE, "KEPT", key, RedisValue.completed(token, fingerprint, response),
				millis(retention));
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return accepted(LuaScript.RELEASE, "FREE", key, RedisValue.pendingPrefix(token));
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return accepted(LuaScript.RENEW, "RENEWED", key, RedisValue.pendingPrefix(token), millis(lease));
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		List<?> reply = (List<?>) run(LuaScript.FIND, key);
		String outcome = LuaScript.FIND.outcome(reply);
		return switch (outcome) {
			case "ABSENT" -> null;
			case "FOUND" -> found(value(key, reply), remaining(reply));
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return accepted(LuaScript.FORGET, "FREE", key, RedisValue.completedPrefix(token));
	}

	@Override
	public String describe() {
		return this.description;
	}

	private Object run(LuaScript script, IdempotencyKey key, byte[]... arguments) {
		try {
			byte[] name = (this.keyPrefix + key.digest()).getBytes(StandardCharsets.UTF_8);
			return this.scripts.send(script, name, arguments);
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Redis failed to execute a command for key " + key, ex);
		}
	}

	private boolean accepted(LuaScript script, String yes, IdempotencyKey key, byte[]... arguments) {
		String outcome = script.outcome(run(script, key, arguments));
		if (!outcome.equals(yes) && !outcome.equals("REFUSED")) {
			throw unexpected(key, outcome);
		}
		return outcome.equals(yes);
	}

	private static StoredKey found(RedisValue value, Duration remaining) {
		return value.isCompleted() ? StoredKey.completed(value.token(), remaining, value.response())
				: StoredKey.pending(value.token(), remaining);
	}

	private static RedisValue value(IdempotencyKey key, List<?> reply) {
		RedisValue value = RedisValue.read((byte[]) reply.get(2));
		if (value == null) {
			throw unexpected(key, "FOREIGN");
		}
		return value;
	}

	private static Duration remaining(List<?> reply) {
		return Duration.ofMillis(Math.max(0, (Long) reply.get(1)));
	}

	private static byte[] millis(Duration duration) {
		return Long.toString(duration.toMillis()).getBytes(StandardCharsets.US_ASCII);
	}

	private static IdempotencyStoreException unexpected(IdempotencyKey key, String outcome) {
		return new IdempotencyStoreException(
				"The Redis value of key " + key + " was not written by this library (" + outcome
						+ "); use a Redis database or an " + "idempotent.redis.key-prefix that no other program uses",
				null);
	}

}
