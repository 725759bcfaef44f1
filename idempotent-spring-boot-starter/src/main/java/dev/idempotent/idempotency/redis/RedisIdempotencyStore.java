package dev.idempotent.idempotency.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Keeps each key as one Redis hash that expires by itself; every verb is one Lua script
 * and one round trip. Needs Redis 6.2 or Valkey, and a server that never evicts
 * ({@code maxmemory-policy noeviction}).
 */
public final class RedisIdempotencyStore implements IdempotencyStore {

	@SuppressWarnings("rawtypes")
	private static final RedisScript<List> CLAIM = script("claim.lua", List.class);

	private static final RedisScript<byte[]> COMPLETE = script("complete.lua", byte[].class);

	private static final RedisScript<byte[]> RELEASE = script("release.lua", byte[].class);

	private static final RedisScript<byte[]> RENEW = script("renew.lua", byte[].class);

	private final RedisTemplate<String, byte[]> redis;

	private final String keyPrefix;

	/**
	 * Creates a store on the application's Redis.
	 * @param connectionFactory where the commands go; its time-out is how long a request
	 * waits for an unreachable Redis
	 * @param keyPrefix what the names of all keys begin with
	 */
	public RedisIdempotencyStore(RedisConnectionFactory connectionFactory, String keyPrefix) {
		this.redis = new RedisTemplate<>();
		this.redis.setConnectionFactory(connectionFactory);
		this.redis.setKeySerializer(RedisSerializer.string());
		this.redis.setValueSerializer(RedisSerializer.byteArray());
		this.redis.afterPropertiesSet();
		this.keyPrefix = keyPrefix;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
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
		return accepted(key, "KEPT", run(COMPLETE, key, bytes(token), bytes(fingerprint.version()),
				bytes(fingerprint.digest()), response.bytes(), bytes(retention.toMillis())));
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
	public String describe() {
		return "Redis";
	}

	private <T> T run(RedisScript<T> script, IdempotencyKey key, byte[]... arguments) {
		try {
			return this.redis.execute(script, List.of(this.keyPrefix + key.digest()), (Object[]) arguments);
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Redis did not carry out a command on key " + key, ex);
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
		return new IdempotencyStoreException("What Redis holds under the name of key " + key
				+ " was not written by this library (" + outcome + "); give the application a database or an "
				+ "idempotent.redis.key-prefix that nothing else uses", null);
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
			throw new UncheckedIOException("The jar of this library lacks " + file, ex);
		}
	}

}
