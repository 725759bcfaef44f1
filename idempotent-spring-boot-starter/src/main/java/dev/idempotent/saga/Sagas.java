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

	/**
	 * Computes the id of a saga, also of one that another application with the same
	 * tables and the same {@code idempotent.namespace} has started. Only ids are stored,
	 * not the keys themselves.
	 * @param saga the {@linkplain Saga#name() name} of the saga
	 * @param key what its {@linkplain Saga#key() key expression} yields, of the same
	 * type: the key {@code 42} and the text {@code "42"} are two sagas
	 * @return the id, whether or not there is such a saga
	 * @throws IllegalArgumentException if the key is empty
	 */
	IdempotencyKey idOf(String saga, Object key);

}
