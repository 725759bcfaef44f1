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
 * Registers an {@link OutboxSynchronization} with each transaction on the database of the
 * outbox, for any transaction manager.
 */
public final class OutboxTransactionListener implements TransactionExecutionListener {

	/**
	 * The resource that an outer transaction of another manager has bound.
	 */
	private static final ThreadLocal<@Nullable Object> OUTER = new ThreadLocal<>();

	private final Supplier<OutboxStore> store;

	private final Supplier<HandOffs> handOffs;

	/**
	 * Creates a listener.
	 * @param store the store, resolved with the first transaction
	 * @param handOffs the hand-offs to the relay, resolved with the first transaction
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
