package dev.idempotent.outbox.transaction;

import java.util.function.Supplier;

import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxStore;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Begins a collection of events with each transaction on the outbox's database, whichever
 * manager begins it.
 */
public final class OutboxTransactionListener implements TransactionExecutionListener {

	/**
	 * What an outer transaction of another kind has bound, while one begins.
	 */
	private static final ThreadLocal<@Nullable Object> OUTER = new ThreadLocal<>();

	private final Supplier<OutboxStore> store;

	private final Supplier<HandOffs> handOffs;

	/**
	 * Creates a listener.
	 * @param store where the events go; asked for with the first transaction
	 * @param handOffs takes them when they are committed
	 */
	public OutboxTransactionListener(Supplier<OutboxStore> store, Supplier<HandOffs> handOffs) {
		this.store = SingletonSupplier.of(store);
		this.handOffs = SingletonSupplier.of(handOffs);
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		if (transaction.isNewTransaction()) {
			OUTER.set(resource());
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (!transaction.isNewTransaction()) {
			return;
		}
		Object outer = OUTER.get();
		OUTER.remove();
		Object own = resource();
		if (failure == null && own != null && own != outer
				&& TransactionSynchronizationManager.isSynchronizationActive()) {
			OutboxSynchronization.begin(this.store.get(), this.handOffs.get());
		}
	}

	private @Nullable Object resource() {
		return TransactionSynchronizationManager.getResource(this.store.get().transactionResource());
	}

}
