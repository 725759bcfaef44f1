package dev.idempotent.idempotency.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Uses a connection for the first time, which takes longer than later uses: classes are
 * loaded, threads started and names resolved. Allows ten timeouts for it, and checks the
 * server's eviction policy.
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
	 * Waits for the warm-up, but at most twice as long, because the application's own
	 * factory may have a longer timeout.
	 */
	void await() {
		Thread thread = new Thread(this, "idempotency-redis-warm-up");
		thread.setDaemon(true);
		thread.start();
		try {
			thread.join(this.timeout.multipliedBy(2L * TIMEOUTS).toMillis());
			if (thread.isAlive()) {
				warn("no answer");
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
	 * An attempt that fails sooner was rejected, and so would be the next one.
	 */
	private boolean hasTimedOut(long begun) {
		return System.nanoTime() - begun >= this.timeout.toNanos();
	}

	private @Nullable RuntimeException attempt() {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.ping();
			this.connected = true;
			warnIfKeysAreEvicted(connection);
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	/**
	 * Logs a warning if the server may evict keys when its memory is full.
	 * @throws RuntimeException if the policy cannot be read
	 */
	private static void warnIfKeysAreEvicted(RedisConnection connection) {
		EvictionPolicies.of(connection).forEach(RedisWarmUp::warnOfEviction);
	}

	private static void warnOfEviction(String policy) {
		logger.warn("Redis may evict idempotency keys when its memory is full (maxmemory-policy {}), so that a retry "
				+ "would run again; use a Redis with maxmemory-policy noeviction", policy);
	}

	private void warn(String reason) {
		if (this.connected) {
			logger.warn(
					"The maxmemory-policy of Redis could not be read; it must be noeviction, or a retry may run again: {}",
					reason);
		}
		else {
			logger.warn("Redis was not reachable while the application started: {}. Until it is reachable, "
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
