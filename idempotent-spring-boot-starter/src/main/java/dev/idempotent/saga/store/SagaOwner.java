package dev.idempotent.saga.store;

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
	 * @param id the id of the saga
	 * @return the owner
	 */
	public static SagaOwner first(IdempotencyKey id) {
		return new SagaOwner(id, (ThreadLocalRandom.current().nextLong() >>> (COUNTER_BITS + 1)) << COUNTER_BITS);
	}

	/**
	 * Whether it is the second owner: the first one that runs a saga that was started in
	 * the background.
	 * @return whether it is the second owner
	 */
	public boolean isSecond() {
		return (this.epoch & ((1L << COUNTER_BITS) - 1)) == 1;
	}

	/**
	 * The random part of the epoch. All owners of this saga share it. An earlier saga
	 * with the same id had another one.
	 * @return the random part of the epoch
	 */
	public long generation() {
		return this.epoch >>> COUNTER_BITS;
	}

	/**
	 * The key of the action of a step, the same in every attempt.
	 * @param step the name of the step
	 * @return the key
	 */
	public IdempotencyKey actionKey(String step) {
		return key(step, "do");
	}

	/**
	 * The key of the undo of a step, the same in every attempt. Only an undo that was
	 * refused is called under another key if an operator retries it.
	 * @param step the entry of the step
	 * @return the key
	 */
	public IdempotencyKey undoKey(JournalEntry step) {
		return undoKey(step.name(), step.refusedUndos());
	}

	/**
	 * The key of the undo of a step, of which this many calls were refused.
	 * @param step the name of the step
	 * @param refusedUndos how many
	 * @return the key
	 */
	public IdempotencyKey undoKey(String step, int refusedUndos) {
		return key(step, (refusedUndos > 0) ? "undo " + refusedUndos : "undo");
	}

	private IdempotencyKey key(String step, String part) {
		return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, this.id.digest(), part, step,
				Long.toHexString(generation()));
	}

}
