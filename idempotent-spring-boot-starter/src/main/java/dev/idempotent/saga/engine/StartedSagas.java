package dev.idempotent.saga.engine;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.TransactionParticipant;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The sagas that one transaction starts. The workers run them when it has committed.
 */
final class StartedSagas implements TransactionParticipant {

	private final Map<IdempotencyKey, Fingerprint> started = new LinkedHashMap<>();

	private final Consumer<IdempotencyKey> workers;

	private StartedSagas(Consumer<IdempotencyKey> workers) {
		this.workers = workers;
	}

	/**
	 * Starts a saga, in the current transaction if there is one.
	 * @param workers receives the id of a saga that was committed
	 */
	static void start(SagaStore store, NewSaga saga, Consumer<IdempotencyKey> workers) {
		try {
			if (TransactionSynchronizationManager.isActualTransactionActive() || ObservedTransaction.isUnobservable()) {
				startInTransaction(store, saga, workers);
			}
			else if (store.insert(saga, List.of())) {
				workers.accept(saga.id());
			}
			else {
				requireSame(saga, store.find(saga.id()));
			}
		}
		catch (PessimisticLockingFailureException ex) {
			throw new IdempotencyPendingException(saga.id(), saga.lease());
		}
	}

	private static void startInTransaction(SagaStore store, NewSaga saga, Consumer<IdempotencyKey> workers) {
		ObservedTransaction transaction = ObservedTransaction.current();
		if (transaction == null || transaction.isCompleting()) {
			throw new IllegalStateException("The saga " + saga.name() + " is started in a transaction that has been "
					+ "committed, or does not support synchronization. Start it before the commit, or in a transaction "
					+ "of its own (Propagation.REQUIRES_NEW)");
		}
		StartedSagas current = in(transaction, workers);
		if (store.insertInTransaction(saga)) {
			current.started.put(saga.id(), saga.fingerprint());
			return;
		}
		Fingerprint own = current.started.get(saga.id());
		if (own == null) {
			requireSame(saga, store.findInTransaction(saga.id()));
		}
		else if (saga.fingerprint().contradicts(own)) {
			throw new IdempotencyMismatchException(saga.id());
		}
	}

	private static void requireSame(NewSaga saga, @Nullable StoredSaga stored) {
		if (stored == null) {
			throw new IdempotencyPendingException(saga.id(), saga.lease());
		}
		if (saga.fingerprint().contradicts(stored.fingerprint())) {
			throw new IdempotencyMismatchException(saga.id());
		}
	}

	private static StartedSagas in(ObservedTransaction transaction, Consumer<IdempotencyKey> workers) {
		StartedSagas current = transaction.participant(StartedSagas.class);
		if (current == null) {
			current = new StartedSagas(workers);
			transaction.add(current, null);
		}
		return current;
	}

	@Override
	public Runnable savepoint() {
		int before = this.started.size();
		return () -> List.copyOf(this.started.keySet())
			.stream()
			.skip(before)
			.forEach((later) -> this.started.remove(later));
	}

	@Override
	public void undone() {
		this.started.clear();
	}

	/**
	 * If the end is unknown, they may be stored.
	 */
	@Override
	public void ended(End end) {
		if (end != End.ROLLED_BACK) {
			this.started.keySet().forEach(this.workers);
		}
	}

}
