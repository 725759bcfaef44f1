package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.redis.ErrorReply;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.event.command.CommandFailedEvent;
import io.lettuce.core.event.command.CommandListener;

/**
 * Listens for commands that time out, and for commands that the server rejects while
 * another server behind the same address may accept them.
 */
final class CommandFailureListener implements CommandListener {

	/**
	 * A server that remains a replica must not cost a new connection for each request.
	 */
	private static final Duration MIN_REJECTION_INTERVAL = Duration.ofMillis(500);

	private final Runnable onTimeout;

	private final Runnable onRejection;

	private final AtomicLong lastRejection = new AtomicLong(System.nanoTime() - MIN_REJECTION_INTERVAL.toNanos());

	CommandFailureListener(Runnable onTimeout, Runnable onRejection) {
		this.onTimeout = onTimeout;
		this.onRejection = onRejection;
	}

	@Override
	public void commandFailed(CommandFailedEvent event) {
		if (event.getCause() instanceof RedisCommandTimeoutException) {
			this.onTimeout.run();
		}
		else if (ErrorReply.requiresReconnect(event.getCause()) && isDue()) {
			this.onRejection.run();
		}
	}

	private boolean isDue() {
		long last = this.lastRejection.get();
		long now = System.nanoTime();
		return now - last >= MIN_REJECTION_INTERVAL.toNanos() && this.lastRejection.compareAndSet(last, now);
	}

}
