package dev.idempotent.idempotency.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Keeps each key as one Redis hash with an expiry; every operation is one Lua script and
 * one round trip. Needs Redis 6.2 or Valkey with {@code maxmemory-policy noeviction}.
 */
public final class RedisIdempotencyStore implements IdempotencyStore {

	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> CLAIM = script("claim.lua", List.class);

	private static final RedisScript<byte[]> COMPLETE = script("complete.lua", byte[].class);

	private static final RedisScript<byte[]> RELEASE = script("release.lua", byte[].class);

	private static final RedisScript<byte[]> RENEW = script("renew.lua", byte[].class);

	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> FIND = script("find.lua", List.class);

	private static final RedisScript<byte[]> FORGET = script("forget.lua", byte[].class);

	private final RedisTemplate<String, byte[]> redis;

	private final String keyPrefix;

	private final @Nullable ReplicaConfirmation replicas;

	/**
	 * Creates a store.
	 * @param connectionFactory used for all commands; its timeout limits how long a
	 * request waits for an unreachable Redis
	 * @param keyPrefix the prefix of all Redis keys
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix) {
		this(connectionFactory, keyPrefix, null);
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
		this(connection.factory(), keyPrefix, new ReplicaConfirmation(connection.factory(), replicas, timeout));
	}

	private RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix,
			@Nullable ReplicaConfirmation replicas) {
		this.replicas = replicas;
		this.redis = new RedisTemplate<>();
		this.redis.setConnectionFactory(connectionFactory);
		this.redis.setKeySerializer(RedisSerializer.string());
		this.redis.setValueSerializer(RedisSerializer.byteArray());
		this.redis.afterPropertiesSet();
		this.keyPrefix = keyPrefix;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return confirmed(key, () -> claimOnMaster(key, fingerprint, token, lease), Claim.Acquired.class::isInstance);
	}

	private Claim claimOnMaster(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		List<?> reply = run(CLAIM, key, bytes(token), bytes(fingerprint.version()), bytes(fingerprint.digest()),
				bytes(lease.toMillis()));
		String outcome = text(reply.get(0));
		return switch (outcome) {
			case "ACQUIRED" -> new Claim.Acquired();
			case "PENDING" -> new Claim.Pending(remaining(reply));
			case "COMPLETED" -> new Claim.Completed(StoredResponse.of((byte[]) reply.get(2)), remaining(reply));
			case "MISMATCHED" -> new Claim.Mismatched();
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return confirmed(key, () -> accepted(key, "KEPT", run(COMPLETE, key, bytes(token), bytes(fingerprint.version()),
				bytes(fingerprint.digest()), response.bytes(), bytes(retention.toMillis()))), (kept) -> kept);
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return accepted(key, "FREE", run(RELEASE, key, bytes(token)));
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return accepted(key, "RENEWED", run(RENEW, key, bytes(token), bytes(lease.toMillis())));
	}

	@Override
	public @Nullable StoredKey find(IdempotencyKey key) {
		List<?> reply = run(FIND, key);
		String outcome = text(reply.get(0));
		return switch (outcome) {
			case "ABSENT" -> null;
			case "PENDING" -> StoredKey.pending(text(reply.get(2)), remaining(reply));
			case "COMPLETED" ->
				StoredKey.completed(text(reply.get(2)), remaining(reply), StoredResponse.of((byte[]) reply.get(3)));
			default -> throw unexpected(key, outcome);
		};
	}

	@Override
	public boolean forget(IdempotencyKey key, String token) {
		return accepted(key, "FREE", run(FORGET, key, bytes(token)));
	}

	@Override
	public String describe() {
		return (this.replicas != null) ? "Redis with " + this.replicas : "Redis";
	}

	private <T> T confirmed(IdempotencyKey key, Supplier<T> step, Predicate<T> isWrite) {
		return (this.replicas != null) ? this.replicas.confirmed(key, step, isWrite) : step.get();
	}

	private <T> T run(RedisScript<T> script, IdempotencyKey key, byte[]... arguments) {
		try {
			return this.redis.execute(script, List.of(this.keyPrefix + key.digest()), (Object[]) arguments);
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Redis failed to execute a command for key " + key, ex);
		}
	}

	private static Duration remaining(List<?> reply) {
		return Duration.ofMillis(Math.max(0, (Long) reply.get(1)));
	}

	private static boolean accepted(IdempotencyKey key, String yes, byte[] reply) {
		String outcome = text(reply);
		if (!outcome.equals(yes) && !outcome.equals("REFUSED")) {
			throw unexpected(key, outcome);
		}
		return outcome.equals(yes);
	}

	private static IdempotencyStoreException unexpected(IdempotencyKey key, String outcome) {
		return new IdempotencyStoreException(
				"The Redis value of key " + key + " was not written by this library (" + outcome
						+ "); use a Redis database or an " + "idempotent.redis.key-prefix that no other program uses",
				null);
	}

	private static byte[] bytes(Object value) {
		return value.toString().getBytes(StandardCharsets.UTF_8);
	}

	private static String text(Object reply) {
		return new String((byte[]) reply, StandardCharsets.UTF_8);
	}

	private static <T> RedisScript<T> script(String file, Class<T> resultType) {
		try {
			String text = new ClassPathResource(file, RedisIdempotencyStore.class)
				.getContentAsString(StandardCharsets.UTF_8);
			return RedisScript.of(text, resultType);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Script not found on the class path: " + file, ex);
		}
	}

}
