package dev.idempotent.stream;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.idempotent.lettuce.ErrorReply;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the beginning and the end of each outage in one line, however many workers are
 * affected. A stream whose commands Redis rejects is an outage of its own.
 */
final class OutageLog {

	private static final Logger logger = LoggerFactory.getLogger(OutageLog.class);

	private static final String REDIS = "Redis";

	private final Map<String, Outage> outages = new LinkedHashMap<>();

	/**
	 * Reports a failed attempt of a worker.
	 * @param current what the worker's last attempt returned, or {@code null} if it
	 * succeeded
	 * @return the outage that affects the worker now
	 */
	synchronized Outage workerFailed(@Nullable Outage current, Subscription subscription, Throwable failure) {
		String cause = isRejected(failure) ? subscription.toString() : REDIS;
		if (current != null && current.cause.equals(cause)) {
			return current;
		}
		if (current != null) {
			workerRecovered(current);
		}
		Outage outage = this.outages.computeIfAbsent(cause, (unused) -> begin(cause, failure));
		outage.affectedWorkers++;
		return outage;
	}

	synchronized void workerRecovered(Outage outage) {
		if (isOver(outage)) {
			if (outage.cause.equals(REDIS)) {
				logger.info("Redis is available again for @RedisStreamListener methods");
			}
			else {
				logger.info("Redis accepts the commands for the {} again", outage.cause);
			}
		}
	}

	/**
	 * Removes a worker that stops during the outage, without logging a recovery.
	 */
	synchronized void workerStopped(Outage outage) {
		boolean unused = isOver(outage);
	}

	/**
	 * How long Redis has been unreachable.
	 * @return {@code null} if it is reachable
	 */
	synchronized @Nullable Duration unreachableFor() {
		Outage outage = this.outages.get(REDIS);
		return (outage != null) ? Duration.ofNanos(System.nanoTime() - outage.since) : null;
	}

	private boolean isOver(Outage outage) {
		return --outage.affectedWorkers == 0 && this.outages.remove(outage.cause, outage);
	}

	private static Outage begin(String cause, Throwable failure) {
		if (cause.equals(REDIS)) {
			logger.warn("Redis is unavailable for @RedisStreamListener methods; reconnecting ({})", failure.toString());
		}
		else {
			logger.warn("Redis rejects the commands for the {}; retrying ({})", cause, failure.getMessage());
		}
		logger.debug("Cause of the outage", failure);
		return new Outage(cause);
	}

	/**
	 * Returns whether Redis works but rejects commands for a stream, such as a key of
	 * another type.
	 */
	private static boolean isRejected(Throwable failure) {
		return failure instanceof RedisCommandExecutionException && !ErrorReply.requiresReconnect(failure);
	}

	/**
	 * An outage and the workers that it affects.
	 */
	static final class Outage {

		private final String cause;

		private final long since = System.nanoTime();

		private int affectedWorkers;

		private Outage(String cause) {
			this.cause = cause;
		}

	}

}
