package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.Set;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A connection to the application's Redis with a separate timeout, so that an unreachable
 * Redis blocks a request for milliseconds instead of the application's timeout (one
 * minute by default with Lettuce). Connects again when it is used after a loss.
 */
public final class IdempotencyRedisConnection implements AutoCloseable {

	private final RedisConnectionFactory factory;

	private final Runnable onClose;

	private IdempotencyRedisConnection(RedisConnectionFactory factory, Runnable onClose) {
		this.factory = factory;
		this.onClose = onClose;
	}

	/**
	 * Uses the application's factory with its own timeout.
	 * @param application the application's factory
	 * @return the connection
	 */
	public static IdempotencyRedisConnection shared(RedisConnectionFactory application) {
		return new IdempotencyRedisConnection(application, () -> {
		});
	}

	/**
	 * Opens one more connection to the same standalone, Sentinel or Cluster servers,
	 * shared by all threads.
	 * @param application the application's factory; static master and replica nodes are
	 * not supported
	 * @param timeout the timeout of connecting and of each command
	 * @return the connection
	 */
	public static IdempotencyRedisConnection withTimeout(LettuceConnectionFactory application, Duration timeout) {
		DedicatedConnectionFactory dedicated = DedicatedConnectionFactory.prompt(application, timeout);
		return new IdempotencyRedisConnection(dedicated.factory(), dedicated::close);
	}

	/**
	 * Opens further connections to the same servers, one for each thread that uses one.
	 * @param application the application's factory for standalone or Sentinel servers
	 * @param timeout the timeout of connecting and of each command
	 * @return the connections
	 */
	public static IdempotencyRedisConnection exclusive(LettuceConnectionFactory application, Duration timeout) {
		DedicatedConnectionFactory dedicated = DedicatedConnectionFactory.exclusive(application, timeout);
		return new IdempotencyRedisConnection(dedicated.factory(), dedicated::close);
	}

	/**
	 * Connects and checks the server's eviction policy. Logs a warning if keys may be
	 * evicted, if the policy is unknown, or if Redis is unavailable.
	 * @param timeout the timeout of an established connection; the first one may take ten
	 * times as long, and twenty times with the application's timeout
	 */
	public void warmUp(Duration timeout) {
		new RedisWarmUp(this.factory, timeout).await();
	}

	/**
	 * Reads by which policies the servers evict keys when their memory is full.
	 * @return the policies other than {@code noeviction}; empty if no server evicts keys
	 * @throws RuntimeException if they cannot be read
	 */
	public Set<String> evictionPolicies() {
		try (RedisConnection connection = this.factory.getConnection()) {
			return EvictionPolicies.of(connection);
		}
	}

	public RedisConnectionFactory factory() {
		return this.factory;
	}

	@Override
	public void close() {
		this.onClose.run();
	}

}
