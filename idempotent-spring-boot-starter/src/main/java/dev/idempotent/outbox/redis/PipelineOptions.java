package dev.idempotent.outbox.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What holds for the streams that events are added to.
 *
 * @param maxLength about how many entries a stream keeps, or {@code null} for all.
 * Trimming takes the oldest entries, whether or not every group has read them: who lags
 * by more loses events, and nobody is told
 * @param waitReplicas how many replicas must confirm a batch; 0 for none
 * @param waitTimeout how long they may take, shorter than the time-out of the connection
 */
public record RedisStreamOptions(@Nullable Long maxLength, int waitReplicas, Duration waitTimeout) {

	boolean waitsForReplicas() {
		return this.waitReplicas > 0;
	}

}
