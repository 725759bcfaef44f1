package dev.idempotent.outbox.redis;

import java.time.Duration;

/**
 * How many replicas must confirm a batch.
 *
 * @param replicas the number of replicas; 0 for none
 * @param timeout how long to wait for them
 */
record ReplicaConfirmation(int replicas, Duration timeout) {

	static final ReplicaConfirmation NONE = new ReplicaConfirmation(0, Duration.ZERO);

	boolean isRequired() {
		return this.replicas > 0;
	}

}
