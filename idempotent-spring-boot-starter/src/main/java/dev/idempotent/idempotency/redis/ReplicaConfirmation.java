package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;

/**
 * Waits until replicas confirm a write. Needs Lettuce and connections that are not
 * shared, since {@code WAIT} blocks the connection that wrote.
 */
final class ReplicaConfirmation implements ConnectionScriptSender.Step {

	/**
	 * The outcomes that must survive a failover.
	 */
	private static final Set<String> WRITTEN = Set.of("ACQUIRED", "KEPT");

	private final int replicas;

	private final Duration timeout;

	ReplicaConfirmation(int replicas, Duration timeout) {
		this.replicas = replicas;
		this.timeout = timeout;
	}

	/**
	 * Waits if the script has granted or completed the key.
	 * @throws DataAccessResourceFailureException if too few replicas confirm in time
	 */
	@Override
	public void run(RedisConnection connection, LuaScript script, Object reply) {
		if (WRITTEN.contains(script.outcome(reply))) {
			requireReplicas((LettuceConnection) connection);
		}
	}

	@Override
	public String toString() {
		return this.replicas + ((this.replicas == 1) ? " replica" : " replicas");
	}

	private void requireReplicas(LettuceConnection connection) {
		Object confirmed = connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
				bytes(this.replicas), bytes(this.timeout.toMillis()));
		if (!(confirmed instanceof Long count) || count < this.replicas) {
			throw new DataAccessResourceFailureException(
					"%s of the %d replicas that idempotent.redis.wait-replicas requires confirmed within %s"
						.formatted(confirmed, this.replicas, this.timeout));
		}
	}

	private static byte[] bytes(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

}
