package dev.idempotent.outbox.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The options of a pipelined append.
 *
 * @param maxLength the approximate number of entries that a stream keeps, or {@code null}
 * @param waitReplicas how many replicas must confirm a batch; 0 for none
 * @param waitTimeout how long to wait for them
 */
record PipelineOptions(@Nullable Long maxLength, int waitReplicas, Duration waitTimeout) {

	boolean waitsForReplicas() {
		return this.waitReplicas > 0;
	}

}
