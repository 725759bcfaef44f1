package dev.idempotent.idempotency.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Uses a connection for the first time, which takes longer than any later use: classes
 * are loaded, threads started and names resolved. Has ten time-outs for it.
 */
final class RedisWarmUp implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(RedisWarmUp.class);

	private static final int TIMEOUTS = 10;

	private final RedisConnectionFactory factory;

	private final Duration timeout;

	private volatile boolean connected;

	RedisWarmUp(RedisConnectionFactory factory, Duration timeout) {
		this.factory = factory;
		this.timeout = timeout;
	}

	/**
	 * Runs, and does not wait longer than twice its time: a factory of the application
	 * may have a longer time-out.
	 */
	void await() {
		Thread thread = new Thread(this, "idempotency-redis-warm-up");
		thread.setDaemon(true);
		thread.start();
		try {
			thread.join(this.timeout.multipliedBy(2L * TIMEOUTS).toMillis());
			if (thread.isAlive()) {
				warn("it has not answered");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void run() {
		long end = System.nanoTime() + this.timeout.multipliedBy(TIMEOUTS).toNanos();
		RuntimeException failure;
		long begun;
		do {
			begun = System.nanoTime();
			failure = attempt();
		}
		while (failure != null && hasTimedOut(begun) && System.nanoTime() - end < 0);
		if (failure != null) {
			warn(describe(failure));
		}
	}

	/**
	 * An attempt that ends sooner was refused, and so would be another.
	 */
	private boolean hasTimedOut(long begun) {
		return System.nanoTime() - begun >= this.timeout.toNanos();
	}

	private @Nullable RuntimeException attempt() {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.ping();
			this.connected = true;
			EvictionPolicy.warnIfKeysAreEvicted(connection);
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private void warn(String reason) {
		if (this.connected) {
			logger.warn(
					"Redis did not tell its maxmemory-policy, which must be noeviction or a retry may run again: {}",
					reason);
		}
		else {
			logger.warn("Redis was not reached while the application started: {}. Until Redis is reachable, "
					+ "idempotent.on-store-failure applies. Its maxmemory-policy (must be noeviction) could not be checked",
					reason);
		}
	}

	private static String describe(RuntimeException failure) {
		String message = String.valueOf(failure.getMessage());
		String reason = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return (reason == null || message.contains(reason)) ? message : message + ": " + reason;
	}

}
