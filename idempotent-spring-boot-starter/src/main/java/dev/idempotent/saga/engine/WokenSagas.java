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
 * The sagas that one transaction has made due, by a signal or a cancellation. The workers
 * take them over when it has committed.
 */
final class WokenSagas implements TransactionParticipant {

	private final Map<IdempotencyKey, String> names = new LinkedHashMap<>();

	private final BiConsumer<String, IdempotencyKey> workers;

	private WokenSagas(BiConsumer<String, IdempotencyKey> workers) {
		this.workers = workers;
	}

	/**
	 * Returns the sagas of the current transaction, or {@code null} if there is none.
	 * @param use what is done in it, as the subject of the message
	 * @param workers receives the name and the id of a saga that is due
	 * @throws IllegalStateException if the transaction cannot be observed any more
	 */
	static @Nullable WokenSagas ofTransaction(String use, BiConsumer<String, IdempotencyKey> workers) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return null;
		}
		ObservedTransaction transaction = ObservedTransaction.current();
		if (transaction == null || transaction.isCompleting()) {
			throw new IllegalStateException(use + " in a transaction that has been committed, or does not support "
					+ "synchronization. Do that before the commit, or in a transaction of its own "
					+ "(Propagation.REQUIRES_NEW)");
		}
		WokenSagas current = transaction.participant(WokenSagas.class);
		if (current == null) {
			current = new WokenSagas(workers);
			transaction.add(current, null);
		}
		return current;
	}

	void add(String name, IdempotencyKey id) {
		this.names.put(id, name);
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
