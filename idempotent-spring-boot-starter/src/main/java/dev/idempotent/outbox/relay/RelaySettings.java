package dev.idempotent.outbox.relay;

import java.time.Duration;

import org.springframework.util.unit.DataSize;

/**
 * The settings of a relay. All numbers, sizes and durations are positive.
 */
public interface RelaySettings {

	/**
	 * How many events are published at a time.
	 * @return the limit of a batch
	 */
	int batchSize();

	/**
	 * How much payload is published at a time; a larger event is published alone.
	 * @return the limit of a batch
	 */
	DataSize batchMemory();

	/**
	 * How many threads deliver events.
	 * @return the number for each publisher
	 */
	int workers();

	/**
	 * How long this instance leases an event before another may claim it.
	 * @return the lease
	 */
	Duration lease();

	/**
	 * How long to wait after a pass over all events before the next one begins.
	 * @return the interval
	 */
	Duration scanInterval();

	/**
	 * How many attempts an event has before it is dead.
	 * @return at least 1
	 */
	int attempts();

	/**
	 * The longest wait after the first failed attempt of an event, doubled for each
	 * further one.
	 * @return the first backoff
	 */
	Duration backoff();

	/**
	 * The longest wait between two attempts of an event.
	 * @return the limit of the backoff
	 */
	Duration maxBackoff();

	/**
	 * How long to continue delivering committed events when the application stops.
	 * @return the timeout of a graceful stop
	 */
	Duration drainTimeout();

}
