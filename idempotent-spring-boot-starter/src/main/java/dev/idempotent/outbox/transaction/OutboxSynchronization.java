package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

import dev.idempotent.jdbc.PendingChanges;
import dev.idempotent.jdbc.TransactionInspector;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.EventTable.NewEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The events of one transaction. Registered when the transaction begins, so that its
 * phase is known when the first event is appended. Collects events until the commit
 * begins, then inserts them in one batch, provided that the transaction has not been
 * rolled back in the meantime; a rollback to a savepoint drops those appended since.
 */
final class OutboxSynchronization implements TransactionSynchronization {

	/**
	 * Bound to the thread, because searching all synchronizations would sort them for
	 * each event.
	 */
	private static final Object KEY = new Object();

	private final EventTable table;

	private final Consumer<List<EventTable.Row>> committed;

	private final PendingChanges changes;

	private final List<NewEvent> collected = new ArrayList<>();

	/**
	 * What the relay is told of after the commit.
	 */
	private final List<EventTable.Row> written = new ArrayList<>();

	private boolean wrote;

	private final IdentityHashMap<Object, Mark> savepoints = new IdentityHashMap<>();

	private Phase phase;

	/**
	 * A row of the transaction since its first event, or of a later part of it, which is
	 * lost if the database rolls its work back and goes on.
	 */
	private @Nullable UUID mark;

	private boolean completing;

	private OutboxSynchronization(EventTable table, Consumer<List<EventTable.Row>> committed, PendingChanges changes,
			Phase phase) {
		this.table = table;
		this.committed = committed;
		this.changes = changes;
		this.phase = phase;
	}

	/**
	 * Registers with a new transaction on the outbox's database.
	 */
	static void begin(EventTable table, Consumer<List<EventTable.Row>> committed, PendingChanges changes) {
		OutboxSynchronization synchronization = new OutboxSynchronization(table, committed, changes, Phase.OPEN);
		synchronization.register();
		TransactionSynchronizationManager.registerSynchronization(synchronization.new Last());
	}

	/**
	 * Joins a transaction whose phase is not known: its events are inserted when they are
	 * appended.
	 */
	static OutboxSynchronization join(EventTable table, Consumer<List<EventTable.Row>> committed) {
		OutboxSynchronization synchronization = new OutboxSynchronization(table, committed, PendingChanges.unknown(),
				Phase.WRITTEN);
		synchronization.register();
		return synchronization;
	}

	private void register() {
		// A transaction whose completion was never reported may have left one behind.
		TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
		resume();
		TransactionSynchronizationManager.registerSynchronization(this);
	}

	/**
	 * Finds the one of the calling thread's transaction, but not that of a suspended
	 * transaction.
	 */
	static @Nullable OutboxSynchronization current() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? (OutboxSynchronization) TransactionSynchronizationManager.getResource(KEY) : null;
	}

	boolean isCommitted() {
		return this.phase == Phase.COMMITTED;
	}

	/**
	 * Watches the transaction from now on, on behalf of events that stand for work of its
	 * next part.
	 */
	void watch() {
		if (this.mark == null && !this.completing) {
			this.mark = this.table.mark();
		}
	}

	void add(List<NewEvent> events) {
		if (this.phase == Phase.OPEN) {
			watch();
			this.collected.addAll(events);
			return;
		}
		// Once the transaction completes, JPA flushes by itself.
		if (!this.completing && anyOrdered(events)) {
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

	/**
	 * Runs first, because other synchronizations may append.
	 */
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void suspend() {
		TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
	}

	@Override
	public void resume() {
		TransactionSynchronizationManager.bindResource(KEY, this);
	}

	@Override
	public void savepoint(Object savepoint) {
		this.savepoints.put(savepoint, new Mark(this.collected.size(), this.written.size(), this.mark));
	}

	@Override
	public void savepointRollback(Object savepoint) {
		Mark mark = this.savepoints.getOrDefault(savepoint, Mark.BEGINNING);
		if (this.phase != Phase.OPEN && mark.collected() > 0) {
			throw new OutboxTransactionException("The commit has begun, so the events that were appended before the "
					+ "savepoint have been written after it, and rolling back to it would lose them: "
					+ "roll back the whole transaction, or to a savepoint of this phase");
		}
		this.mark = mark.mark();
		dropFrom(this.collected, mark.collected());
		dropFrom(this.written, mark.written());
	}

	private static void dropFrom(List<?> all, int kept) {
		all.subList(Math.min(kept, all.size()), all.size()).clear();
	}

	@Override
	public void beforeCompletion() {
		if (this.phase == Phase.WRITTEN && this.mark != null) {
			// Watched by a method that appended no event.
			this.table.unmark(this.mark);
			this.mark = null;
		}
		this.completing = true;
	}

	@Override
	public void afterCommit() {
		commit();
	}

	/**
	 * {@link #afterCommit()} is not called if that of another synchronization has failed.
	 * Without {@link #beforeCompletion()}, the work would be committed without its
	 * events: see {@code TransactionInspector#rollBack}. So would it if nothing was
	 * written, and a listener has kept the manager from a rollback.
	 */
	@Override
	public void afterCompletion(int status) {
		suspend();
		boolean hasEvents = this.wrote || !this.collected.isEmpty();
		boolean notRolledBack = this.completing ? this.phase == Phase.OPEN && status == STATUS_UNKNOWN
				: hasEvents && status != STATUS_COMMITTED;
		if (notRolledBack) {
			TransactionInspector.rollBack(this.table.transactionResource());
			return;
		}
		// If the outcome is unknown, there may be rows.
		if (status != STATUS_ROLLED_BACK) {
			commit();
		}
	}

	private void commit() {
		if (this.phase != Phase.COMMITTED && this.wrote) {
			this.committed.accept(List.copyOf(this.written));
		}
		this.phase = Phase.COMMITTED;
	}

	private void writeCollected() {
		if (anyOrdered(this.collected)) {
			// The order of the events is that of their rows, which must follow the order
			// in which transactions lock what they change. Still collects what callbacks
			// of entities append.
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

		OPEN, WRITTEN, COMMITTED

	}

	private record Mark(int collected, int written, @Nullable UUID mark) {

		static final Mark BEGINNING = new Mark(0, 0, null);

	}

	/**
	 * The part that runs after all other synchronizations.
	 */
	private final class Last implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			writeCollected();
		}

	}

}
