package dev.idempotent.stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once that Redis does not answer, and once that it does again, however many workers
 * find out.
 */
final class OutageLog {

	private static final Logger logger = LoggerFactory.getLogger(RedisStreamListenerContainer.class);

	private int sufferers;

	synchronized void begin(Throwable failure) {
		if (this.sufferers++ == 0) {
			logger.warn("The @RedisStreamListener methods are not served ({}); they wait until they are",
					failure.toString());
			logger.debug("The methods wait because of", failure);
		}
	}

	synchronized void end() {
		if (--this.sufferers == 0) {
			logger.info("The @RedisStreamListener methods are served again");
		}
	}

	/**
	 * A worker that stops does not know whether Redis is back.
	 */
	synchronized void leave() {
		this.sufferers--;
	}

}
