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

import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionGuard;
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
	 * The transactions that commit the connections. One on another database, of whose
	 * begin this listener is not told, suspends the synchronizations of the outer one and
	 * leaves its connection bound.
	 */
	private static final Map<Object, ObservedTransaction> KNOWN = Collections.synchronizedMap(new WeakHashMap<>());

	private final Supplier<EventTable> table;

	private final Supplier<Consumer<List<EventTable.Row>>> committed;

	private final BooleanSupplier joinable;

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
		if (own != null && TransactionGuard.isCurrent(this.table.get().transactionResource())) {
			KNOWN.put(own, ObservedTransaction.begun(PendingChanges.of(transaction, outer)));
		}
	}

	/**
	 * Finds the events of the calling thread's transaction. One that began before this
	 * listener was registered is joined.
	 * @return {@code null} if events cannot be appended to the transaction
	 */
	@Nullable EventsOfTransaction current() {
		Object own = resource();
		ObservedTransaction known = (own != null) ? KNOWN.get(own) : null;
		ObservedTransaction bound = ObservedTransaction.bound();
		ObservedTransaction transaction = (bound != null && bound == known) ? bound : ObservedTransaction.current();
		if (own == null || transaction == null) {
			return null;
		}
		EventsOfTransaction events = transaction.participant(EventsOfTransaction.class);
		boolean commits = known == transaction || (known == null && this.joinable.getAsBoolean());
		if (events != null || !commits) {
			return events;
		}
		KNOWN.put(own, transaction);
		return EventsOfTransaction.in(transaction, this.table.get(), this.committed.get());
	}

	private @Nullable Object resource() {
		return TransactionSynchronizationManager.getResource(this.table.get().transactionResource());
	}

}
