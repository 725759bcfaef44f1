package dev.idempotent.saga.run;

import java.time.Duration;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;

/**
 * A saga to insert.
 *
 * @param owner the id and the first epoch
 * @param name the name
 * @param status {@link SagaStatus#STARTED} or {@link SagaStatus#EXECUTING}
 * @param process the id of the process that owns it
 * @param fingerprint the fingerprint of the arguments
 * @param arguments the arguments
 * @param lease the lease
 * @param timeout the time until its deadline
 */
@SuppressWarnings("ArrayRecordComponent")
public record NewSaga(SagaOwner owner, String name, SagaStatus status, String process, Fingerprint fingerprint,
		byte[] arguments, Duration lease, Duration timeout) {

	/**
	 * The id.
	 * @return the id
	 */
	public IdempotencyKey id() {
		return this.owner.id();
	}

}
