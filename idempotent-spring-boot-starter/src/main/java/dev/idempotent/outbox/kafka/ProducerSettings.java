package dev.idempotent.outbox.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * The settings of the producer: the settings of the application, except for the ones that
 * delivery depends on.
 *
 * @param deliveryTimeout how long a record may take after it was sent
 * @param requestTimeout how long to wait for each response
 * @param maxBlock how long to wait for the metadata of a topic, or for memory
 */
record ProducerSettings(Duration deliveryTimeout, Duration requestTimeout, Duration maxBlock) {

	private static final Duration LONGEST_DELIVERY = Duration.ofSeconds(10);

	private static final Duration LONGEST_REQUEST = Duration.ofSeconds(3);

	private static final Duration LONGEST_BLOCK = Duration.ofSeconds(2);

	private static final int LINGER_MILLIS = 5;

	/**
	 * Derives the timeouts from the lease, so that a batch takes at most half of it.
	 */
	static ProducerSettings within(Duration lease) {
		return new ProducerSettings(atMost(LONGEST_DELIVERY, lease.dividedBy(3)),
				atMost(LONGEST_REQUEST, lease.dividedBy(10)), atMost(LONGEST_BLOCK, lease.dividedBy(15)));
	}

	/**
	 * How long to continue with further topics: together with the last one of them and
	 * the delivery, half of the lease.
	 */
	Duration sendTime() {
		return this.maxBlock.multipliedBy(3).dividedBy(2);
	}

	/**
	 * How long the deliveries of a batch may take. The producer ends each of them after
	 * its own timeout, unless it is broken.
	 */
	Duration longestFlush() {
		return this.deliveryTimeout.plus(this.requestTimeout);
	}

	/**
	 * For how long a producer may get no response before another one replaces it: 60 s,
	 * at most two leases.
	 */
	Duration patience() {
		return this.deliveryTimeout.multipliedBy(6);
	}

	/**
	 * Returns the application's settings with the fixed ones.
	 */
	Map<String, Object> applyTo(Map<String, Object> application) {
		Map<String, Object> settings = new HashMap<>(application);
		settings.put(ProducerConfig.ACKS_CONFIG, "all");
		settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
		settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 5);
		settings.put(ProducerConfig.RETRIES_CONFIG, Integer.MAX_VALUE);
		settings.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
		settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, millis(this.deliveryTimeout));
		settings.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis(this.requestTimeout));
		settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, millis(this.maxBlock));
		// A batch is flushed; this lets its first records be sent together.
		settings.put(ProducerConfig.LINGER_MS_CONFIG,
				Math.min(LINGER_MILLIS, millis(this.deliveryTimeout) - millis(this.requestTimeout)));
		return settings;
	}

	private static Duration atMost(Duration longest, Duration share) {
		return (share.compareTo(longest) < 0) ? share : longest;
	}

	private static int millis(Duration duration) {
		return (int) Math.max(1, duration.toMillis());
	}

}
