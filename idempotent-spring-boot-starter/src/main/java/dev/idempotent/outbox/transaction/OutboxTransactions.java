package dev.idempotent.outbox.transaction;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.transaction.ObservedTransaction;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the events of the calling thread's transaction, whichever manager has begun it.
 */
public final class OutboxTransactions {

	private final Supplier<EventTable> table;

	private final Supplier<Consumer<List<EventTable.Row>>> committed;

	private final BooleanSupplier joinable;

	/**
	 * Creates a finder.
	 * @param table stores the events; obtained with the first event
	 * @param committed told of rows after their commit, and of a commit without such rows
	 * if all its events are for later; obtained with the first event
	 * @param joinable whether what the calling thread inserts now commits with its
	 * transaction; evaluated for a transaction that is not watched from its begin
	 */
	public OutboxTransactions(Supplier<EventTable> table, Supplier<Consumer<List<EventTable.Row>>> committed,
			BooleanSupplier joinable) {
		this.table = SingletonSupplier.of(table);
		this.committed = SingletonSupplier.of(committed);
		this.joinable = joinable;
	}

	/**
	 * Finds the events, none so far if the next ones are the first.
	 * @return {@code null} if events cannot be appended to the transaction
	 */
	@Nullable EventsOfTransaction current() {
		DataSource dataSource = this.table.get().transactionResource();
		ObservedTransaction bound = ObservedTransaction.bound();
		boolean commits = bound != null && bound.commits(dataSource)
				&& TransactionSynchronizationManager.isSynchronizationActive();
		ObservedTransaction transaction = commits ? bound : ObservedTransaction.current();
		if (transaction == null) {
			return null;
		}
		EventsOfTransaction events = transaction.participant(EventsOfTransaction.class);
		return (events != null || (!commits && !this.joinable.getAsBoolean())) ? events
				: EventsOfTransaction.in(transaction, this.table.get(), this.committed.get());
	}

}
