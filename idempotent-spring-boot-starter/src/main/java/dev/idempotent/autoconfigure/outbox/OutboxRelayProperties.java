package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.relay.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Properties of the relay, which delivers the events of this instance.
 *
 * @param enabled Whether this instance delivers events. By default it does if it uses the
 * outbox: if it has a @TransactionalOutbox method, or requests the Outbox. With true, it
 * delivers the events of other programs too; with false, it only appends events.
 * @param batchSize How many events are published at a time.
 * @param batchMemory How much payload is published at a time. A larger event is published
 * alone.
 * @param queueCapacity How many events wait in memory after their commit, for each
 * publisher.
 * @param queueMemory How much payload waits in memory after its commit, for each
 * publisher.
 * @param workers How many threads deliver events right after their commit, for each
 * publisher.
 * @param lease How long this instance leases an event before another may claim it.
 * @param pollInterval How long to wait before the next query after there were events.
 * @param idlePollInterval Limit of the poll interval, which doubles while there are no
 * events.
 * @param fullScanInterval How often all events are queried instead of only the latest.
 * @param attempts How many attempts an event has before it is dead.
 * @param backoff How long an event waits at most after its first failed attempt.
 * @param maxBackoff How long an event waits at most.
 * @param drainTimeout How long to continue delivering when the application stops.
 */
@ConfigurationProperties("idempotent.outbox.relay")
record OutboxRelayProperties(@Nullable Boolean enabled, @DefaultValue("500") int batchSize,
		@DefaultValue("4MB") DataSize batchMemory, @DefaultValue("10000") int queueCapacity,
		@DefaultValue("16MB") DataSize queueMemory, @DefaultValue("2") int workers, @DefaultValue("30s") Duration lease,
		@DefaultValue("1s") Duration pollInterval, @DefaultValue("5s") Duration idlePollInterval,
		@DefaultValue("10s") Duration fullScanInterval, @DefaultValue("10") int attempts,
		@DefaultValue("1s") Duration backoff, @DefaultValue("5m") Duration maxBackoff,
		@DefaultValue("10s") Duration drainTimeout) implements RelaySettings {

	OutboxRelayProperties {
		requirePositive("batch-size", batchSize);
		requirePositive("queue-capacity", queueCapacity);
		requirePositive("workers", workers);
		requirePositive("batch-memory", batchMemory);
		requirePositive("queue-memory", queueMemory);
		requirePositive("attempts", attempts);
		requirePositive("lease", lease);
		requirePositive("poll-interval", pollInterval);
		requirePositive("idle-poll-interval", idlePollInterval);
		requirePositive("full-scan-interval", fullScanInterval);
		requirePositive("backoff", backoff);
		requirePositive("max-backoff", maxBackoff);
		requirePositive("drain-timeout", drainTimeout);
	}

	private static void requirePositive(String name, int value) {
		if (value < 1) {
			throw mistake(name, Integer.toString(value), "a number of at least 1");
		}
	}

	private static void requirePositive(String name, DataSize value) {
		if (value.toBytes() < 1) {
			throw mistake(name, value.toString(), "a size of at least one byte, such as 4MB");
		}
	}

	private static void requirePositive(String name, Duration value) {
		if (value.toMillis() < 1) {
			throw mistake(name, value.toString(), "a duration of at least one millisecond, such as 1s");
		}
	}

	private static IdempotentConfigurationException mistake(String name, String value, String wanted) {
		return new IdempotentConfigurationException("idempotent.outbox.relay." + name + " is " + value + ".",
				"Set it to " + wanted + ", or omit it.", null);
	}

}
