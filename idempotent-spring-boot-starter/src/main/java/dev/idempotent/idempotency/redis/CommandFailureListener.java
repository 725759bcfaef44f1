package dev.idempotent.idempotency.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.lettuce.ErrorReply;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.event.command.CommandFailedEvent;
import io.lettuce.core.event.command.CommandListener;

/**
 * Hears of each command whose reply did not come in time, and of those that the server
 * refuses while another one behind the same address may not.
 */
final class CommandFailureListener implements CommandListener {

	/**
	 * A replica that stays one must not cost a connection for each request.
	 */
	private static final Duration BETWEEN_REFUSALS = Duration.ofMillis(500);

	private final Runnable onSilence;

	private final Runnable onRefusal;

	private final AtomicLong lastRefusal = new AtomicLong(System.nanoTime() - BETWEEN_REFUSALS.toNanos());

	CommandFailureListener(Runnable onSilence, Runnable onRefusal) {
		this.onSilence = onSilence;
		this.onRefusal = onRefusal;
	}

	@Override
	public void commandFailed(CommandFailedEvent event) {
		if (event.getCause() instanceof RedisCommandTimeoutException) {
			this.onSilence.run();
		}
		else if (ErrorReply.callsForReconnect(event.getCause()) && isDue()) {
			this.onRefusal.run();
		}
	}

	private boolean isDue() {
		long last = this.lastRefusal.get();
		long now = System.nanoTime();
		return now - last >= BETWEEN_REFUSALS.toNanos() && this.lastRefusal.compareAndSet(last, now);
	}

}
