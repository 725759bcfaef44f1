package dev.idempotent.stream;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.idempotent.redis.ErrorReply;
import dev.idempotent.concurrent.OutageLog;
import io.lettuce.core.RedisCommandExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outages of Redis that affect workers, each logged once, however many workers are
 * affected. A stream whose commands Redis rejects is an outage of its own.
 */
final class StreamOutages {

	private static final Logger logger = LoggerFactory.getLogger(StreamOutages.class);

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
			outage.log.succeeded(System.nanoTime());
		}
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
		Outage outage = new Outage(cause, log(cause));
		outage.log.failed(System.nanoTime(), failure);
		return outage;
	}

	private static OutageLog log(String cause) {
		if (cause.equals(REDIS)) {
			return new OutageLog(logger,
					"Redis is unavailable for @RedisStreamListener methods; until it is available again, no entry is "
							+ "read or acknowledged",
					"Redis is available again for @RedisStreamListener methods");
		}
		return new OutageLog(logger, "Redis rejects the commands for the " + cause + ", which are repeated",
				"Redis accepts the commands for the " + cause + " again");
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

		private final OutageLog log;

		private final long since = System.nanoTime();

		private int affectedWorkers;

		private Outage(String cause, OutageLog log) {
			this.cause = cause;
			this.log = log;
		}

	}

}
