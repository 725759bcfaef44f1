package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.core.RedisConnectionUtils;

/**
 * Takes a claim or an answer as kept only when replicas have confirmed it, so that a
 * failover to one of them does not lose it. Without their word the outcome is unknown: a
 * claim is given back, an answer is sent and stored again.
 */
public final class ReplicatedIdempotencyStore implements IdempotencyStore {

	private final RedisIdempotencyStore store;

	private final RedisConnectionFactory factory;

	private final int replicas;

	private final Duration timeout;

	/**
	 * Creates a store that waits for replicas.
	 * @param connection an {@linkplain IdempotencyRedisConnection#exclusive exclusive}
	 * one: while it waits for replicas it can do nothing else
	 * @param keyPrefix what the names of all keys begin with
	 * @param replicas how many replicas must confirm a write, at least one
	 * @param timeout how long they may take, shorter than that of the connection
	 */
	public ReplicatedIdempotencyStore(IdempotencyRedisConnection connection, String keyPrefix, int replicas,
			Duration timeout) {
		this.store = new RedisIdempotencyStore(connection.factory(), keyPrefix);
		this.factory = connection.factory();
		this.replicas = replicas;
		this.timeout = timeout;
	}

	@Override
	public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
		return confirmed(key, () -> this.store.claim(key, fingerprint, token, lease), Claim::isAcquired);
	}

	@Override
	public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return confirmed(key, () -> this.store.complete(key, fingerprint, token, response, retention), (kept) -> kept);
	}

	@Override
	public boolean release(IdempotencyKey key, String token) {
		return this.store.release(key, token);
	}

	@Override
	public boolean renew(IdempotencyKey key, String token, Duration lease) {
		return this.store.renew(key, token, lease);
	}

	@Override
	public String describe() {
		return "Redis with " + this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

	private <T> T confirmed(IdempotencyKey key, Supplier<T> step, Predicate<T> isWrite) {
		RedisConnection connection = RedisConnectionUtils.bindConnection(this.factory);
		try {
			T outcome = step.get();
			if (isWrite.test(outcome)) {
				requireReplicas(key, (LettuceConnection) connection);
			}
			return outcome;
		}
		finally {
			RedisConnectionUtils.unbindConnection(this.factory);
		}
	}

	private void requireReplicas(IdempotencyKey key, LettuceConnection connection) {
		try {
			Object confirmed = connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
					bytes(this.replicas), bytes(this.timeout.toMillis()));
			if (!(confirmed instanceof Long count) || count < this.replicas) {
				throw new DataAccessResourceFailureException(
						"%s of the %d replicas that idempotent.redis.wait-replicas asks for confirmed within %s"
							.formatted(confirmed, this.replicas, this.timeout));
			}
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Too few replicas of Redis are known to have key " + key,
					ex);
		}
	}

	private static byte[] bytes(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

}
