package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.redis.LuaScript;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/**
 * Keeps each key as one Redis string with an expiry; every operation is one Lua script
 * and one round trip. What {@link #findPending} lists is in a sorted set, which no claim
 * writes: a script could not write both in a Cluster. Needs Redis 6.2 or Valkey with
 * {@code maxmemory-policy noeviction}.
 */
public final class RedisIdempotencyStore implements IdempotencyStore {

	private static final LuaScript CLAIM = LuaScript.of(RedisIdempotencyStore.class, "claim.lua");

	private static final LuaScript COMPLETE = LuaScript.of(RedisIdempotencyStore.class, "complete.lua");

	private static final LuaScript RELEASE = LuaScript.of(RedisIdempotencyStore.class, "release.lua");

	private static final LuaScript RENEW = LuaScript.of(RedisIdempotencyStore.class, "renew.lua");

	private static final LuaScript FIND = LuaScript.of(RedisIdempotencyStore.class, "find.lua");

	private static final LuaScript FORGET = LuaScript.of(RedisIdempotencyStore.class, "forget.lua");

	private static final LuaScript ANNOUNCE = LuaScript.of(RedisIdempotencyStore.class, "announce.lua");

	private static final LuaScript ANNOUNCED = LuaScript.of(RedisIdempotencyStore.class, "announced.lua");

	private static final String INDEX = "running";

	/**
	 * Each key is read by a script of its own: in a Cluster, they are on several servers.
	 */
	private static final int MAX_FOUND = 1000;

	private final IdempotencyRedisConnection connection;

	private final String keyPrefix;

	/**
	 * Creates a store.
	 * @param connection used for all commands; its timeout limits how long a request
	 * waits for an unreachable Redis
	 * @param keyPrefix the prefix of all Redis keys
	 */
	public RedisIdempotencyStore(IdempotencyRedisConnection connection, String keyPrefix) {
		this.connection = connection;
		this.keyPrefix = keyPrefix;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return claimAs(key, fingerprint, token, lease, null);
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease, RunDescription run) {
		return claimAs(key, fingerprint, token, lease, run);
	}

	private Claim claimAs(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			@Nullable RunDescription run) {
		List<?> reply = (List<?>) run(CLAIM, true, key, RedisValue.pending(token, fingerprint, run), millis(lease));
		String outcome = IdempotencyRedisConnection.outcome(reply);
		return switch (outcome) {
			case "ACQUIRED" -> new Claim.Acquired();
			case "PENDING" -> new Claim.Pending(remaining(reply));
			case "COMPLETED" -> new Claim.Completed(value(key, reply).response(), remaining(reply));
			case "MISMATCHED" -> new Claim.Mismatched((reply.size() > 1) ? remaining(reply) : null);
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return accepted(COMPLETE, "KEPT", key, RedisValue.completed(token, fingerprint, response), millis(retention));
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return accepted(RELEASE, "FREE", key, RedisValue.pendingPrefix(token));
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return accepted(RENEW, "RENEWED", key, RedisValue.pendingPrefix(token), millis(lease));
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		List<?> reply = (List<?>) run(FIND, true, key);
		String outcome = IdempotencyRedisConnection.outcome(reply);
		return switch (outcome) {
			case "ABSENT" -> null;
			case "FOUND" -> found(value(key, reply), remaining(reply));
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return accepted(FORGET, "FREE", key, RedisValue.completedPrefix(token));
	}

	@Override
	public void announce(Map<IdempotencyKey, Duration> pending) {
		List<byte[]> arguments = new ArrayList<>();
		pending.forEach((key, lease) -> {
			arguments.add(bytes(key.digest()));
			arguments.add(millis(lease));
		});
		Object unused = runOnIndex(ANNOUNCE, false, arguments.toArray(byte[][]::new));
	}

	@Override
	public PendingKeys findPending(int atMost) {
		int limit = Math.min(atMost, MAX_FOUND);
		List<?> announced = (List<?>) runOnIndex(ANNOUNCED, true, bytes(Integer.toString(limit)));
		Map<IdempotencyKey, StoredKey> pending = new LinkedHashMap<>();
		for (Object digest : announced.subList(2, announced.size())) {
			IdempotencyKey key = new IdempotencyKey(new String((byte[]) digest, StandardCharsets.US_ASCII));
			StoredKey found = findUnlessForeign(key);
			if (found != null && found.state() == StoredKey.State.PENDING) {
				pending.put(key, found);
			}
		}
		long within = (Long) announced.get(1);
		return new PendingKeys(pending, (within >= 0) ? Duration.ofMillis(within) : null);
	}

	/**
	 * Another program's value must not hide the other keys.
	 */
	private @Nullable StoredKey findUnlessForeign(IdempotencyKey key) {
		try {
			return find(key);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			throw ex;
		}
		catch (IdempotencyStoreException ex) {
			return null;
		}
	}

	private Object runOnIndex(LuaScript script, boolean withDetails, byte[]... arguments) {
		try {
			return this.connection.run(script, withDetails, bytes(this.keyPrefix + INDEX), arguments);
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException(
					"Redis failed to execute a command for the list of running " + "keys " + this.keyPrefix + INDEX,
					ex);
		}
	}

	@Override
	public String describe() {
		return this.connection.describe();
	}

	private Object run(LuaScript script, boolean withDetails, IdempotencyKey key, byte[]... arguments) {
		try {
			return this.connection.run(script, withDetails, bytes(this.keyPrefix + key.digest()), arguments);
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Redis failed to execute a command for key " + key, ex);
		}
	}

	private boolean accepted(LuaScript script, String yes, IdempotencyKey key, byte[]... arguments) {
		String outcome = IdempotencyRedisConnection.outcome(run(script, false, key, arguments));
		if (!outcome.equals(yes) && !outcome.equals("REFUSED")) {
			throw unexpected(key, outcome);
		}
		return outcome.equals(yes);
	}

	private static StoredKey found(RedisValue value, Duration remaining) {
		return value.isCompleted() ? StoredKey.completed(value.token(), remaining, value.response())
				: StoredKey.pending(value.token(), remaining, value.run());
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
		return bytes(Long.toString(duration.toMillis()));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static IdempotencyStoreException unexpected(IdempotencyKey key, String outcome) {
		return new IdempotencyStoreException("The Redis value of key " + key + " was not written by this library ("
				+ outcome + "); use a Redis database or an idempotent.redis.key-prefix that no other program uses",
				null);
	}

}
