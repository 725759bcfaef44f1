package dev.idempotent.outbox.redis;

import java.time.Duration;

import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events that no client has received. Logs the first one, then a summary at most once
 * a minute.
 */
final class UnreceivedEvents {

	private static final Logger logger = LoggerFactory.getLogger(UnreceivedEvents.class);

	private static final long PAUSE = Duration.ofMinutes(1).toNanos();

	private final Runnable observer;

	private long notLogged;

	private long nextLine = System.nanoTime();

	UnreceivedEvents(Runnable observer) {
		this.observer = observer;
	}

	void add(SerializedEvent event) {
		this.observer.run();
		long unreceived = due();
		if (unreceived > 0) {
			logger.warn(
					"{} published with no receiver, the latest to {}. Redis keeps nothing for clients that "
							+ "subscribe later: use redis-stream for events that must reach disconnected consumers",
					(unreceived == 1) ? "An event was" : unreceived + " events were", event.topic());
		}
	}

	/**
	 * How many events to report now.
	 */
	private synchronized long due() {
		this.notLogged++;
		long now = System.nanoTime();
		if (now - this.nextLine < 0) {
			return 0;
		}
		this.nextLine = now + PAUSE;
		long unreceived = this.notLogged;
		this.notLogged = 0;
		return unreceived;
	}

}
