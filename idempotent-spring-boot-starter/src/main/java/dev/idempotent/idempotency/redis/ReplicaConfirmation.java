package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.core.RedisConnectionUtils;

/**
 * Waits until replicas confirm a write. Needs Lettuce and a factory whose connections are
 * not shared, since {@code WAIT} blocks the connection that wrote.
 */
final class ReplicaConfirmation {

	private final RedisConnectionFactory factory;

	private final int replicas;

	private final Duration timeout;

	ReplicaConfirmation(RedisConnectionFactory factory, int replicas, Duration timeout) {
		this.factory = factory;
		this.replicas = replicas;
		this.timeout = timeout;
	}

	/**
	 * Runs a step on a connection that is bound to the thread, and waits if it wrote.
	 * @throws IdempotencyStoreUnavailableException if too few replicas confirm in time
	 */
	<T> T confirmed(IdempotencyKey key, Supplier<T> step, Predicate<T> isWrite) {
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

	@Override
	public String toString() {
		return this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

	private void requireReplicas(IdempotencyKey key, LettuceConnection connection) {
		try {
			Object confirmed = connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
					bytes(this.replicas), bytes(this.timeout.toMillis()));
			if (!(confirmed instanceof Long count) || count < this.replicas) {
				throw new DataAccessResourceFailureException(
						"%s of the %d replicas that idempotent.redis.wait-replicas requires confirmed within %s"
							.formatted(confirmed, this.replicas, this.timeout));
			}
		}
		catch (DataAccessException ex) {
			throw new IdempotencyStoreUnavailableException("Too few Redis replicas confirmed key " + key, ex);
		}
	}

	private static byte[] bytes(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

}
