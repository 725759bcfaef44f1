package dev.idempotent.saga.engine;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionParticipant;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The sagas that signals or cancellations have made due. The workers take them over when
 * the transaction of the caller has committed, or at once if there is none.
 */
final class WokenSagas implements TransactionParticipant {

	private final Map<IdempotencyKey, String> names = new LinkedHashMap<>();

	private final BiConsumer<String, IdempotencyKey> workers;

	private final boolean inTransaction;

	private WokenSagas(BiConsumer<String, IdempotencyKey> workers, boolean inTransaction) {
		this.workers = workers;
		this.inTransaction = inTransaction;
	}

	/**
	 * Returns the sagas of the current transaction, or new ones if there is none.
	 * @param use what is done in it, as the subject of the message
	 * @param workers receives the name and the id of a saga that is due
	 * @throws IllegalStateException if the transaction cannot be observed any more
	 */
	static WokenSagas current(String use, BiConsumer<String, IdempotencyKey> workers) {
		if (!TransactionSynchronizationManager.isActualTransactionActive() && !ObservedTransaction.isUnobservable()) {
			return new WokenSagas(workers, false);
		}
		ObservedTransaction transaction = ObservedTransaction.current();
		if (transaction == null || transaction.isCompleting()) {
			throw new IllegalStateException(use + " in a transaction that has been committed, or does not support "
					+ "synchronization. Do that before the commit, or in a transaction of its own "
					+ "(Propagation.REQUIRES_NEW)");
		}
		WokenSagas current = transaction.participant(WokenSagas.class);
		if (current == null) {
			current = new WokenSagas(workers, true);
			transaction.add(current, null);
		}
		return current;
	}

	boolean isInTransaction() {
		return this.inTransaction;
	}

	/**
	 * Adds a saga.
	 * @param name its name, or {@code null} if it is not due
	 */
	void add(@Nullable String name, IdempotencyKey id) {
		if (name != null && this.inTransaction) {
			this.names.put(id, name);
		}
		else if (name != null) {
			this.workers.accept(name, id);
		}
	}

	/**
	 * To look at a saga that is not due has no effect.
	 */
	@Override
	public Runnable savepoint() {
		return () -> {
		};
	}

	@Override
	public void ended(End end) {
		if (end != End.ROLLED_BACK) {
			this.names.forEach((id, name) -> this.workers.accept(name, id));
		}
	}

}
