package dev.idempotent.saga;

import java.util.Optional;

import dev.idempotent.idempotency.IdempotencyKey;

/**
 * Starts sagas in the background, and finds them.
 */
public interface Sagas {

	/**
	 * Starts a saga in the background. In a transaction, the saga exists if and only if
	 * that commits; otherwise it exists when this method returns.
	 * @param call makes one call of a {@link Saga} method, such as
	 * {@code () -> checkout.place(command)}, and does nothing with its result
	 * @return the id of the saga, also if it has been started before under this key
	 * @throws dev.idempotent.idempotency.IdempotencyMismatchException if the key has a
	 * saga with other arguments
	 * @throws dev.idempotent.idempotency.IdempotencyPendingException if another
	 * transaction is starting a saga with this key
	 * @throws IllegalArgumentException if the arguments yield no key, or cannot be stored
	 * as JSON
	 * @throws IllegalStateException if the call does not call exactly one {@link Saga}
	 * method, or that method has neither a key nor an enclosing run
	 */
	IdempotencyKey start(Runnable call);

	/**
	 * Finds a saga.
	 * @param id the id, as {@link #start} returns it
	 * @return the saga; empty if there is none, or its retention has ended
	 */
	Optional<SagaSnapshot> find(IdempotencyKey id);

}
