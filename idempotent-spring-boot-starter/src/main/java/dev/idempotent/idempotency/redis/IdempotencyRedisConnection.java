package dev.idempotent.idempotency.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A connection to the application's Redis with a time-out of its own, so that an
 * unreachable Redis holds a request for milliseconds and not for the application's
 * time-out (Lettuce's default is a minute), and that is back within a second or two of
 * Redis.
 */
public final class IdempotencyRedisConnection implements AutoCloseable {

	private final RedisConnectionFactory factory;

	private final Runnable end;

	IdempotencyRedisConnection(RedisConnectionFactory factory, Runnable end) {
		this.factory = factory;
		this.end = end;
	}

	/**
	 * Uses a factory as it is, with the time-out that it has.
	 * @param application the application's factory
	 * @return the connection
	 */
	public static IdempotencyRedisConnection shared(RedisConnectionFactory application) {
		return new IdempotencyRedisConnection(application, () -> {
		});
	}

	/**
	 * Connects to the same standalone, Sentinel or Cluster servers again, once for all
	 * threads.
	 * @param application the application's factory, not one for static master and replica
	 * nodes
	 * @param timeout how long to wait for a connection and for each reply
	 * @return the connection
	 */
	public static IdempotencyRedisConnection withTimeout(LettuceConnectionFactory application, Duration timeout) {
		return LettuceConnections.prompt(application, timeout);
	}

	/**
	 * Connects to the same servers again, once for each thread that is at work.
	 * @param application the application's factory for standalone or Sentinel servers
	 * @param timeout how long to wait for a connection and for each reply
	 * @return the connections
	 */
	public static IdempotencyRedisConnection exclusive(LettuceConnectionFactory application, Duration timeout) {
		return LettuceConnections.exclusive(application, timeout);
	}

	/**
	 * Connects, and asks the server whether it evicts keys when its memory is full. Warns
	 * if it does, does not tell, or is away.
	 * @param timeout the time-out of a connection that is in use; the first one may take
	 * ten times as long, and twenty times with a time-out of the application
	 */
	public void warmUp(Duration timeout) {
		new RedisWarmUp(this.factory, timeout).await();
	}

	public RedisConnectionFactory factory() {
		return this.factory;
	}

	@Override
	public void close() {
		this.end.run();
	}

}
