package dev.idempotent.idempotency.redis;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.event.command.CommandFailedEvent;
import io.lettuce.core.event.command.CommandListener;

/**
 * Hears of each command whose reply did not come in time.
 */
record CommandTimeoutListener(Runnable reaction) implements CommandListener {

	@Override
	public void commandFailed(CommandFailedEvent event) {
		if (event.getCause() instanceof RedisCommandTimeoutException) {
			this.reaction.run();
		}
	}

}
