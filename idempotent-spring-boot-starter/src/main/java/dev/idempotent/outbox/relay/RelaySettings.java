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
	 * How many events wait in memory after their commit.
	 * @return the limit for each publisher
	 */
	int queueCapacity();

	/**
	 * How much payload waits in memory after its commit.
	 * @return the limit for each publisher
	 */
	DataSize queueMemory();

	/**
	 * How many threads deliver events that were handed over at commit.
	 * @return the number for each publisher
	 */
	int workers();

	/**
	 * How long this instance leases an event before another may claim it.
	 * @return the lease
	 */
	Duration lease();

	/**
	 * How long to wait before the next query after there were events.
	 * @return the shortest interval
	 */
	Duration pollInterval();

	/**
	 * The limit of the poll interval, which doubles while there are no events.
	 * @return the longest interval
	 */
	Duration idlePollInterval();

	/**
	 * How often all events are queried instead of only the latest ones.
	 * @return the interval
	 */
	Duration fullScanInterval();

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
	 * How long to continue delivering handed-over events when the application stops.
	 * @return the timeout of a graceful stop
	 */
	Duration drainTimeout();

}
