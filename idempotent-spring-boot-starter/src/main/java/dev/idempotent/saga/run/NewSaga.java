package dev.idempotent.saga.run;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;

/**
 * A saga to insert, with epoch 1.
 *
 * @param id the id
 * @param name the name
 * @param status {@link SagaStatus#STARTED} or {@link SagaStatus#EXECUTING}
 * @param process the id of the process that owns it
 * @param fingerprint the fingerprint of the arguments
 * @param arguments the arguments
 * @param lease the lease
 * @param timeout the time until its deadline
 */
@SuppressWarnings("ArrayRecordComponent")
public record NewSaga(IdempotencyKey id, String name, SagaStatus status, String process, Fingerprint fingerprint,
		byte[] arguments, Duration lease, Duration timeout) {

	/**
	 * The epoch of a new saga.
	 */
	public static final long EPOCH = 1;

	SagaStore.Owner owner() {
		return new SagaStore.Owner(this.id, EPOCH);
	}

}
