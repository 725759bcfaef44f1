package dev.idempotent.autoconfigure.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The configuration of keys that operators need to know.
 *
 * @param namespace separates the keys of this application from those of others
 * @param maxRun how long a lease is renewed at most
 * @param proceedsWithoutStore whether requests run unprotected while the store is
 * unreachable
 * @param replayCacheTtl how long an instance may replay a key that the store no longer
 * has; {@code null} without a replay cache
 */
public record KeySettings(String namespace, Duration maxRun, boolean proceedsWithoutStore,
		@Nullable Duration replayCacheTtl) {
}
