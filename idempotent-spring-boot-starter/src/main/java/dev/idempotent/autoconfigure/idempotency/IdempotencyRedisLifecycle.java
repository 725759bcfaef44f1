package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.idempotency.redis.IdempotencyRedisConnection;
import org.springframework.context.SmartLifecycle;

/**
 * Connects to Redis before the web server and listener containers start, so that the
 * first request does not get 503 while the connection is opened.
 */
final class IdempotencyRedisLifecycle implements SmartLifecycle {

	/**
	 * Starts after the application's connection factory, which may be used itself.
	 */
	private static final int PHASE = 1;

	private final IdempotencyRedisConnection connection;

	private final Duration timeout;

	private volatile boolean running;

	IdempotencyRedisLifecycle(IdempotencyRedisConnection connection, Duration timeout) {
		this.connection = connection;
		this.timeout = timeout;
	}

	@Override
	public void start() {
		this.connection.warmUp(this.timeout);
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
