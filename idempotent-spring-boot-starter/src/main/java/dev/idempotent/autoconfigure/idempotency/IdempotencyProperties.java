package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.OnError;
import dev.idempotent.idempotency.OnStoreFailure;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of all idempotent operations.
 *
 * @param enabled Whether the @Idempotent annotation has an effect.
 * @param namespace Name that separates the keys of this application from those of others
 * in a shared store. Defaults to spring.application.name.
 * @param store Where keys are stored. Defaults to Redis if the application uses it, and
 * to its database otherwise.
 * @param guarantee Guarantee of operations that specify none. Unset, it is lease, and a
 * warning at startup names those that could have the other one.
 * @param lease How long a claim stays valid without renewal. It is renewed while the
 * handler runs.
 * @param retention How long a completed key is replayed.
 * @param maxRun How long a lease is renewed at most, so that a hanging handler does not
 * hold its key indefinitely.
 * @param onError Whether a key is released or its error stored when the handler ends with
 * a status of 500 or above, or with an exception.
 * @param onStoreFailure Whether a request is rejected or proceeds without a claim when
 * the store is unreachable.
 */
@ConfigurationProperties("idempotent")
record IdempotencyProperties(@DefaultValue("true") boolean enabled, @Nullable String namespace, @Nullable Store store,
		@Nullable DefaultGuarantee guarantee, @DefaultValue("30s") Duration lease,
		@DefaultValue("24h") Duration retention, @DefaultValue("10m") Duration maxRun,
		@DefaultValue("release") OnError onError, @DefaultValue("reject") OnStoreFailure onStoreFailure) {

	IdempotencyProperties {
		requireDuration("idempotent.lease", lease);
		requireDuration("idempotent.max-run", maxRun);
		if (retention.compareTo(lease) < 0) {
			throw new IdempotentConfigurationException(
					"idempotent.retention (%s) is shorter than idempotent.lease (%s).".formatted(retention, lease),
					"Set idempotent.retention to at least idempotent.lease.", null);
		}
		requireDuration("idempotent.retention", retention);
	}

	Guarantee defaultGuarantee() {
		return (this.guarantee == DefaultGuarantee.TRANSACTION) ? Guarantee.TRANSACTION : Guarantee.LEASE;
	}

	static void requireDuration(String property, Duration value) {
		if (value.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IdempotentConfigurationException(
					"%s is %s, but must be at least 1 ms.".formatted(property, value),
					"Set %s to a duration of at least 1 ms, such as 30s.".formatted(property), null);
		}
		if (value.compareTo(IdempotencyStore.MAX_DURATION) > 0) {
			throw new IdempotentConfigurationException(
					"%s is %s, but must be at most 3650d.".formatted(property, value),
					"Set %s to a duration of at most 3650d.".formatted(property), null);
		}
	}

	/**
	 * The guarantees that can be the default.
	 */
	enum DefaultGuarantee {

		/**
		 * The key is claimed in the store, under a lease.
		 */
		LEASE,

		/**
		 * The record of the key commits in the database transaction of the work.
		 */
		TRANSACTION

	}

	/**
	 * The stores that are auto-configured.
	 */
	enum Store {

		/**
		 * In the application's Redis.
		 */
		REDIS,

		/**
		 * In the application's database.
		 */
		JDBC

	}

}
