package dev.idempotent.saga;

import java.util.Optional;

import dev.idempotent.idempotency.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * Starts sagas in the background, finds them, sends them signals, and cancels them.
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
	 * Sends a signal without a value, as {@link #signal(IdempotencyKey, String, Object)}
	 * does.
	 * @param id the id of the saga
	 * @param name the name of the signal
	 * @return what has become of it
	 */
	default SignalResult signal(IdempotencyKey id, String name) {
		return signal(id, name, null);
	}

	/**
	 * Sends a signal to a saga, which may wait for it now or later, or not exist yet: it
	 * is kept until the saga {@linkplain SagaSteps#await(String, Class) waits} for it, or
	 * without a saga for {@code idempotent.saga.retention}. In a transaction, the signal
	 * is sent if and only if that commits. The first signal of a name counts.
	 * @param id the id of the saga, as {@link #start} returns it and {@link #idOf}
	 * computes it
	 * @param name the name of the signal
	 * @param value its value, which is stored as JSON of its class, such as a record; or
	 * {@code null}
	 * @return what has become of it
	 * @throws IllegalArgumentException if the name is invalid, or the value cannot be
	 * stored as JSON of its class and compared
	 * @throws IllegalStateException if the transaction has been committed or does not
	 * support synchronization
	 * @throws org.springframework.dao.DataAccessException if the database fails, or the
	 * transaction is one of another database
	 */
	SignalResult signal(IdempotencyKey id, String name, @Nullable Object value);

	/**
	 * Cancels a saga: what it has done is undone, as after its deadline, unless it has
	 * completed. In a transaction, that happens if and only if the transaction commits. A
	 * saga that waits is undone at once. An action that is running is not interrupted;
	 * the saga is undone after it. Waits for a step that runs in a transaction.
	 * @param id the id of the saga, as {@link #start} returns it and {@link #idOf}
	 * computes it
	 * @param reason why, without personal data; its beginning is stored and is part of
	 * {@link SagaCompensatedException}
	 * @return {@link SagaStatus#COMPENSATING} if the saga will be undone; otherwise the
	 * status in which it remains; empty if there is no such saga, or its retention has
	 * ended
	 * @throws IllegalStateException if the transaction has been committed or does not
	 * support synchronization
	 * @throws org.springframework.dao.DataAccessException if the database fails, or the
	 * transaction is one of another database
	 */
	Optional<SagaStatus> cancel(IdempotencyKey id, String reason);

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
