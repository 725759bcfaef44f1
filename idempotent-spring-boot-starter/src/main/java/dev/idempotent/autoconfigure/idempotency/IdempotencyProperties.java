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
 * What holds for all idempotent operations of an application.
 *
 * @param enabled Whether the @Idempotent annotation has an effect.
 * @param namespace Name that sets the keys of this application apart from those of others
 * in a shared store. Defaults to spring.application.name.
 * @param store Where keys are kept. Defaults to Redis if the application has it, else to
 * its database.
 * @param guarantee Guarantee of operations that name none.
 * @param lease How long a claim on a key holds if its owner falls silent. Renewed while
 * the handler runs.
 * @param retention How long a completed key is replayed.
 * @param maxRun How long a lease is renewed at most, so that a hung handler does not hold
 * its key for ever.
 * @param onError What becomes of a key when its handler ends in a status from 500 on or
 * in an exception.
 * @param onStoreFailure What becomes of a request whose key cannot be claimed because the
 * store is unreachable.
 */
@ConfigurationProperties("idempotent")
record IdempotencyProperties(@DefaultValue("true") boolean enabled, @Nullable String namespace, @Nullable Store store,
		@DefaultValue("lease") DefaultGuarantee guarantee, @DefaultValue("30s") Duration lease,
		@DefaultValue("24h") Duration retention, @DefaultValue("10m") Duration maxRun,
		@DefaultValue("release") OnError onError, @DefaultValue("reject") OnStoreFailure onStoreFailure) {

	IdempotencyProperties {
		requireDuration("idempotent.lease", lease);
		requireDuration("idempotent.max-run", maxRun);
		if (retention.compareTo(lease) < 0) {
			throw new IdempotentConfigurationException(
					"idempotent.retention (%s) is shorter than idempotent.lease (%s).".formatted(retention, lease),
					"Let idempotent.retention be at least as long as idempotent.lease.", null);
		}
		requireDuration("idempotent.retention", retention);
	}

	static void requireDuration(String property, Duration value) {
		if (value.compareTo(Duration.ofMillis(1)) < 0) {
			throw new IdempotentConfigurationException("%s is %s, which is no time at all.".formatted(property, value),
					"Set %s to a millisecond or more, such as 30s.".formatted(property), null);
		}
		if (value.compareTo(IdempotencyStore.MAX_DURATION) > 0) {
			throw new IdempotentConfigurationException("%s is %s, longer than ten years.".formatted(property, value),
					"Set %s to ten years (3650d) or less.".formatted(property), null);
		}
	}

	/**
	 * What an operation can have that names no guarantee.
	 */
	enum DefaultGuarantee {

		/**
		 * The store alone decides.
		 */
		LEASE,

		/**
		 * The record of the key commits in the database transaction of the work.
		 */
		TRANSACTION;

		Guarantee guarantee() {
			return Guarantee.valueOf(name());
		}

	}

	/**
	 * Where keys are kept.
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
