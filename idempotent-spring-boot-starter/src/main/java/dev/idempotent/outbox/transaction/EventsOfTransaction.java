package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.NewEvent;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionParticipant;
import org.jspecify.annotations.Nullable;

/**
 * The events of one transaction. If the transaction is observed from its begin, collects
 * them until the commit begins, then inserts them in one batch, provided that the
 * transaction has not been rolled back in the meantime; a rollback to a savepoint drops
 * those appended since.
 */
final class EventsOfTransaction implements TransactionParticipant {

	private final EventTable table;

	private final Consumer<List<EventTable.Row>> committed;

	private final ObservedTransaction transaction;

	private final PendingChanges changes;

	private final List<NewEvent> collected = new ArrayList<>();

	/**
	 * The rows that the relay is notified of after the commit.
	 */
	private final List<EventTable.Row> written = new ArrayList<>();

	private boolean wrote;

	private boolean told;

	private Phase phase;

	/**
	 * A row of the transaction since its first event, or of a later part of it, which is
	 * lost if the database rolls its work back and goes on.
	 */
	private @Nullable UUID mark;

	private EventsOfTransaction(EventTable table, Consumer<List<EventTable.Row>> committed,
			ObservedTransaction transaction, PendingChanges changes, Phase phase) {
		this.table = table;
		this.committed = committed;
		this.transaction = transaction;
		this.changes = changes;
		this.phase = phase;
	}

	/**
	 * Lets events participate in a transaction. They are inserted when they are appended
	 * if it was not observed from its begin, or if its commit has begun.
	 */
	static EventsOfTransaction in(ObservedTransaction transaction, EventTable table,
			Consumer<List<EventTable.Row>> committed) {
		PendingChanges known = transaction.changes();
		boolean collects = known != null && !transaction.isCommitting();
		EventsOfTransaction events = new EventsOfTransaction(table, committed, transaction,
				(known != null) ? known : PendingChanges.unknown(), collects ? Phase.OPEN : Phase.WRITTEN);
		transaction.add(events, table.transactionResource());
		if (collects) {
			transaction.lastStatement(events::writeCollected);
		}
		return events;
	}

	boolean isCommitted() {
		return this.transaction.isCommitted();
	}

	/**
	 * Watches the transaction from now on for the work that follows, whose events are
	 * appended later.
	 */
	void watch() {
		if (this.mark == null && !this.transaction.isCompleting()) {
			this.mark = this.table.mark();
		}
	}

	/**
	 * Writes the entities that are payloads, before these are serialized.
	 */
	void writeEntities(Collection<OutboxEvent> events) {
		if (!this.transaction.isCompleting()) {
			events.forEach((event) -> this.changes.flushFor(event.payload()));
		}
	}

	void add(List<NewEvent> events) {
		if (this.phase == Phase.OPEN) {
			watch();
			this.collected.addAll(events);
			return;
		}
		// Once the transaction completes, JPA flushes by itself.
		if (!this.transaction.isCompleting() && anyOrdered(events)) {
			this.changes.flushUnlessFlushing();
		}
		boolean watched = this.mark != null;
		requireMark(events);
		write(events);
		// From here, the rows of these events share the fate of the work before them.
		if (watched) {
			watch();
		}
	}

	private static boolean anyOrdered(List<NewEvent> events) {
		return events.stream().anyMatch(NewEvent::ordered);
	}

	@Override
	public Runnable savepoint() {
		SavepointState state = new SavepointState(this.collected.size(), this.written.size(), this.mark);
		return () -> restore(state);
	}

	@Override
	public void undone() {
		restore(SavepointState.BEGINNING);
	}

	private void restore(SavepointState state) {
		if (this.phase != Phase.OPEN && state.collected() > 0) {
			throw new OutboxTransactionException("The commit has begun, so the events that were appended before the "
					+ "savepoint have been written after it, and rolling back to it would lose them: "
					+ "roll back the whole transaction, or to a savepoint of this phase");
		}
		this.mark = state.mark();
		dropFrom(this.collected, state.collected());
		dropFrom(this.written, state.written());
	}

	private static void dropFrom(List<?> all, int kept) {
		all.subList(Math.min(kept, all.size()), all.size()).clear();
	}

	@Override
	public void completing() {
		if (this.phase == Phase.WRITTEN && this.mark != null) {
			// Watched by a method that appended no event.
			this.table.unmark(this.mark);
			this.mark = null;
		}
	}

	@Override
	public void committed() {
		tell();
	}

	/**
	 * If the end is unknown, there may be rows.
	 */
	@Override
	public void ended(End end) {
		if (end != End.ROLLED_BACK) {
			tell();
		}
	}

	private void tell() {
		if (this.wrote && !this.told) {
			this.committed.accept(List.copyOf(this.written));
		}
		this.told = true;
	}

	private void writeCollected() {
		if (anyOrdered(this.collected)) {
			// Events have the order of their rows, which must follow the order in which
			// transactions lock what they change. What callbacks of entities append is
			// still collected.
			this.changes.flush();
		}
		requireMark(this.collected);
		this.phase = Phase.WRITTEN;
		List<NewEvent> events = List.copyOf(this.collected);
		this.collected.clear();
		write(events);
	}

	private void requireMark(List<NewEvent> events) {
		boolean lost = this.mark != null && !this.table.unmark(this.mark);
		this.mark = null;
		if (lost && !events.isEmpty()) {
			throw new OutboxTransactionException(
					"The database has rolled back work of this transaction since its first "
							+ "event, usually to break a deadlock whose exception was caught, or to a savepoint of the JDBC "
							+ "connection. The rest is rolled back, too: repeat the whole transaction after a deadlock, and use "
							+ "the savepoints of Spring");
		}
	}

	private void write(List<NewEvent> events) {
		if (!events.isEmpty()) {
			this.written.addAll(this.table.append(events));
			this.wrote = true;
		}
	}

	private enum Phase {

		OPEN, WRITTEN

	}

	/**
	 * What a rollback to a savepoint restores.
	 */
	private record SavepointState(int collected, int written, @Nullable UUID mark) {

		static final SavepointState BEGINNING = new SavepointState(0, 0, null);

	}

}
