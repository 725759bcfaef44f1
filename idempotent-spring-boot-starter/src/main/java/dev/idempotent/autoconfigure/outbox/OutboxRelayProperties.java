package dev.idempotent.autoconfigure.outbox;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.relay.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How this instance delivers events.
 *
 * @param enabled Whether this instance delivers events. By default it does if it uses the
 * outbox: if it has a @TransactionalOutbox method, or requests the Outbox. With true, it
 * delivers the events of other programs too; with false, it only appends events.
 * @param batchSize How many events are published at a time.
 * @param batchMemory How much payload is published at a time. A larger event goes alone.
 * @param queueCapacity How many events wait in memory after their commit, for each
 * publisher.
 * @param queueMemory How much payload waits in memory after its commit, for each
 * publisher.
 * @param workers How many threads deliver events right after their commit, for each
 * publisher.
 * @param lease How long this instance holds an event before another one may take it.
 * @param pollInterval How long to wait after the last event before looking for more.
 * @param idlePollInterval How long that wait grows while there are none.
 * @param fullScanInterval How often to look at all events and not just at the latest.
 * @param attempts How many attempts an event has before it is dead.
 * @param backoff How long an event waits at most after its first failed attempt.
 * @param maxBackOff How long an event waits at most.
 * @param drainTimeout How long to go on delivering when the application stops.
 */
@ConfigurationProperties("idempotent.outbox.relay")
record OutboxRelayProperties(@Nullable Boolean enabled, @DefaultValue("500") int batchSize,
		@DefaultValue("4MB") DataSize batchMemory, @DefaultValue("10000") int queueCapacity,
		@DefaultValue("16MB") DataSize queueMemory, @DefaultValue("2") int workers, @DefaultValue("30s") Duration lease,
		@DefaultValue("1s") Duration pollInterval, @DefaultValue("5s") Duration idlePollInterval,
		@DefaultValue("10s") Duration fullScanInterval, @DefaultValue("10") int attempts,
		@DefaultValue("1s") Duration backoff, @DefaultValue("5m") Duration maxBackOff,
		@DefaultValue("10s") Duration drainTimeout) {

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
		requirePositive("max-backoff", maxBackOff);
		requirePositive("drain-timeout", drainTimeout);
	}

	RelaySettings settings(String owner) {
		return new RelaySettings(owner, this.batchSize, this.batchMemory.toBytes(), this.queueCapacity,
				this.queueMemory.toBytes(), this.workers, this.lease, this.pollInterval, this.idlePollInterval,
				this.fullScanInterval, this.attempts, this.backoff, this.maxBackOff, this.drainTimeout);
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
				"Set it to " + wanted + ", or leave it out.", null);
	}

}
