package dev.idempotent.stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs once that Redis is unavailable and once that it is available again, however many
 * workers are affected.
 */
final class OutageLog {

	private static final Logger logger = LoggerFactory.getLogger(OutageLog.class);

	private int affectedWorkers;

	synchronized void workerFailed(Throwable failure) {
		if (this.affectedWorkers++ == 0) {
			logger.warn("Redis is unavailable for @RedisStreamListener methods; reconnecting ({})", failure.toString());
			logger.debug("Cause of the outage", failure);
		}
	}

	synchronized void workerRecovered() {
		if (--this.affectedWorkers == 0) {
			logger.info("Redis is available again for @RedisStreamListener methods");
		}
	}

	/**
	 * Removes a worker that stops during the outage, without logging a recovery.
	 */
	synchronized void workerStopped() {
		this.affectedWorkers--;
	}

}
