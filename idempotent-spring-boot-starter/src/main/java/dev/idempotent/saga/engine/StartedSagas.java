package dev.idempotent.saga.engine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.saga.engine.SagaStore.NewSaga;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The sagas that one transaction starts. The workers run them when it has committed.
 */
final class StartedSagas implements TransactionSynchronization {

	private static final Logger logger = LoggerFactory.getLogger(StartedSagas.class);

	private final Map<IdempotencyKey, Fingerprint> started = new HashMap<>();

	private final Consumer<IdempotencyKey> workers;

	private boolean completing;

	private StartedSagas(Consumer<IdempotencyKey> workers) {
		this.workers = workers;
	}

	/**
	 * Starts a saga, in the current transaction if there is one.
	 * @param workers receives the id of a saga that was committed
	 */
	static void start(SagaStore store, NewSaga saga, Consumer<IdempotencyKey> workers) {
		try {
			if (TransactionSynchronizationManager.isActualTransactionActive()) {
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
		StartedSagas current = TransactionSynchronizationManager.isSynchronizationActive() ? current(workers) : null;
		if (current == null || current.completing) {
			throw new IllegalStateException("The saga " + saga.name() + " is started in a transaction that has been "
					+ "committed, or does not support synchronization. Start it before the commit, or in a transaction "
					+ "of its own (Propagation.REQUIRES_NEW)");
		}
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

	private static StartedSagas current(Consumer<IdempotencyKey> workers) {
		for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
			if (each instanceof StartedSagas current) {
				return current;
			}
		}
		StartedSagas created = new StartedSagas(workers);
		TransactionSynchronizationManager.registerSynchronization(created);
		return created;
	}

	@Override
	public void beforeCompletion() {
		this.completing = true;
	}

	/**
	 * Not {@code afterCommit}, during which the transaction still appears active. If the
	 * outcome is unknown, they may be stored, even if the completion was not announced.
	 */
	@Override
	public void afterCompletion(int status) {
		if (status == STATUS_ROLLED_BACK) {
			return;
		}
		if (this.completing || status == STATUS_UNKNOWN) {
			this.started.keySet().forEach(this.workers);
			return;
		}
		logger.error("The sagas {} were started after the commit of their transaction, by the first of its callbacks "
				+ "that starts a saga. They are not stored, unless the connection commits by itself: start them before "
				+ "the commit, or in a transaction of their own (Propagation.REQUIRES_NEW)", this.started.keySet());
	}

}
