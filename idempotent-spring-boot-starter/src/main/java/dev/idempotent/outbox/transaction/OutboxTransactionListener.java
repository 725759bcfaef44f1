package dev.idempotent.outbox.transaction;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.idempotent.jdbc.PendingChanges;
import dev.idempotent.jdbc.TransactionInspector;
import dev.idempotent.outbox.jdbc.EventTable;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Prepares each transaction on the outbox's database for events, whichever manager begins
 * it.
 */
public final class OutboxTransactionListener implements TransactionExecutionListener {

	/**
	 * The sessions of outer transactions, while one begins.
	 */
	private static final ThreadLocal<@Nullable Set<Object>> OUTER = new ThreadLocal<>();

	/**
	 * The connections of transactions with a synchronization. A transaction on another
	 * database, of whose begin this listener is not told, suspends the synchronization
	 * and leaves the connection bound.
	 */
	private static final Map<Object, Boolean> KNOWN = Collections.synchronizedMap(new WeakHashMap<>());

	private final Supplier<EventTable> table;

	private final Supplier<Consumer<List<EventTable.Row>>> committed;

	private final BooleanSupplier joinable;

	private final Supplier<TransactionInspector> inspector;

	/**
	 * Creates a listener.
	 * @param table stores the events; obtained with the first transaction
	 * @param committed told of rows after their commit, and of a commit without such rows
	 * if all its events are for later; obtained with the first transaction
	 * @param joinable whether what the calling thread inserts now commits with its
	 * transaction; evaluated for a transaction that began before this listener was
	 * registered
	 */
	public OutboxTransactionListener(Supplier<EventTable> table, Supplier<Consumer<List<EventTable.Row>>> committed,
			BooleanSupplier joinable) {
		this.table = SingletonSupplier.of(table);
		this.committed = SingletonSupplier.of(committed);
		this.joinable = joinable;
		this.inspector = SingletonSupplier.of(() -> new TransactionInspector(this.table.get().transactionResource()));
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		if (transaction.isNewTransaction()) {
			OUTER.set(PendingChanges.sessions());
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (!transaction.isNewTransaction()) {
			return;
		}
		Set<Object> outer = Objects.requireNonNullElse(OUTER.get(), Set.of());
		OUTER.remove();
		if (failure != null || !TransactionSynchronizationManager.isSynchronizationActive()) {
			return;
		}
		Object own = resource();
		if (own != null && this.inspector.get().isCurrent()) {
			KNOWN.put(own, true);
			OutboxSynchronization.begin(this.table.get(), this.committed.get(), PendingChanges.of(transaction, outer));
		}
	}

	/**
	 * Finds the synchronization of the calling thread's transaction. One that began
	 * before this listener was registered is joined.
	 * @return {@code null} if events cannot be appended to the transaction
	 */
	@Nullable OutboxSynchronization current() {
		OutboxSynchronization known = OutboxSynchronization.current();
		if (known != null) {
			return known;
		}
		Object own = resource();
		boolean joins = TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive() && own != null
				&& this.joinable.getAsBoolean() && !TransactionInspector.isIn("invokeAfterCommit")
				&& KNOWN.putIfAbsent(own, true) == null;
		return joins ? OutboxSynchronization.join(this.table.get(), this.committed.get()) : null;
	}

	private @Nullable Object resource() {
		return TransactionSynchronizationManager.getResource(this.table.get().transactionResource());
	}

}
