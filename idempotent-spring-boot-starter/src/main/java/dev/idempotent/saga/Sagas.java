package dev.idempotent.saga;

import java.util.Optional;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * Starts sagas in the background, and finds them.
 */
public interface Sagas {

	/**
	 * Starts a saga in the background: as part of the current transaction, so that it
	 * exists if and only if that commits, or at once if there is none.
	 * @param call makes one call of a {@link Saga} method, such as
	 * {@code () -> checkout.place(command)}, and does nothing with its result
	 * @return the id of the saga, also if it has been started before under this key
	 * @throws dev.idempotent.idempotency.IdempotencyMismatchException if the key has a
	 * saga with other arguments
	 * @throws IllegalStateException if the call does not call exactly one saga
	 */
	IdempotencyKey start(Runnable call);

	/**
	 * Finds a saga.
	 * @param id the id
	 * @return the saga, unless there is none or its retention has ended
	 */
	Optional<SagaSnapshot> find(IdempotencyKey id);

}
