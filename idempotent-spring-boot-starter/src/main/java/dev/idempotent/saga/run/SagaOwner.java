package dev.idempotent.saga.run;

import java.util.concurrent.ThreadLocalRandom;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * Proves the ownership of a saga, and fences late owners.
 *
 * @param id the id of the saga
 * @param epoch a number that each new owner raises by 1. Its upper bits are random and
 * part of all keys: a saga that has the id of an expired one has other keys, and the
 * owners of the expired one cannot write to it
 */
public record SagaOwner(IdempotencyKey id, long epoch) {

	private static final int COUNTER_BITS = 20;

	/**
	 * Creates the first owner of a saga.
	 */
	static SagaOwner first(IdempotencyKey id) {
		return new SagaOwner(id, (ThreadLocalRandom.current().nextLong() >>> (COUNTER_BITS + 1)) << COUNTER_BITS);
	}

	/**
	 * The number that all owners of a saga share.
	 */
	long incarnation() {
		return this.epoch >>> COUNTER_BITS;
	}

}
