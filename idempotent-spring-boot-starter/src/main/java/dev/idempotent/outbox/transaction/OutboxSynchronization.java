package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

import dev.idempotent.outbox.HandOffs;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The events of one transaction. Begins with it, so that it knows how far the transaction
 * is when the first event comes. Collects them until the commit begins, then inserts them
 * at once; those of a part that is rolled back to a savepoint are dropped.
 */
final class OutboxSynchronization implements TransactionSynchronization {

	/**
	 * Binds a collection to its thread: to look for it among all synchronizations sorts
	 * them, with each event.
	 */
	private static final Object KEY = new Object();

	private final OutboxStore store;

	private final HandOffs handOffs;

	private final List<SerializedEvent> collected = new ArrayList<>();

	private final List<Written> written = new ArrayList<>();

	private final IdentityHashMap<Object, Mark> savepoints = new IdentityHashMap<>();

	private Phase phase = Phase.OPEN;

	private OutboxSynchronization(OutboxStore store, HandOffs handOffs) {
		this.store = store;
		this.handOffs = handOffs;
	}

	/**
	 * Begins with the transaction that the calling thread has just begun.
	 */
	static void begin(OutboxStore store, HandOffs handOffs) {
		OutboxSynchronization collection = new OutboxSynchronization(store, handOffs);
		// One may be left that has not been told of its end.
		TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
		collection.resume();
		TransactionSynchronizationManager.registerSynchronization(collection);
		TransactionSynchronizationManager.registerSynchronization(collection.new Last());
	}

	/**
	 * Finds that of the transaction of the calling thread. One of a suspended transaction
	 * is not found.
	 */
	static @Nullable OutboxSynchronization current() {
		return TransactionSynchronizationManager.isSynchronizationActive()
				? (OutboxSynchronization) TransactionSynchronizationManager.getResource(KEY) : null;
	}

	boolean isCommitted() {
		return this.phase == Phase.COMMITTED;
	}

	void add(List<SerializedEvent> events) {
		if (this.phase == Phase.OPEN) {
			this.collected.addAll(events);
		}
		else {
			write(events);
		}
	}

	/**
	 * Before everybody else, who may append from then on.
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
		this.savepoints.put(savepoint, new Mark(this.collected.size(), this.written.size()));
	}

	/**
	 * Comes before the database rolls back.
	 */
	@Override
	public void savepointRollback(Object savepoint) {
		Mark mark = this.savepoints.getOrDefault(savepoint, Mark.BEGINNING);
		if (this.phase != Phase.OPEN && mark.collected() > 0) {
			throw new OutboxTransactionException("The commit has begun, so the events that were appended before the "
					+ "savepoint have been written after it, and rolling back to it would lose them: "
					+ "roll back the whole transaction, or to a savepoint of this phase");
		}
		dropFrom(this.collected, mark.collected());
		dropFrom(this.written, mark.written()).forEach(Written::cancel);
	}

	private static <T> List<T> dropFrom(List<T> all, int kept) {
		List<T> behind = all.subList(Math.min(kept, all.size()), all.size());
		List<T> dropped = List.copyOf(behind);
		behind.clear();
		return dropped;
	}

	@Override
	public void afterCommit() {
		commit();
	}

	/**
	 * Nobody is told of a commit whose first listener has failed.
	 */
	@Override
	public void afterCompletion(int status) {
		suspend();
		if (status == STATUS_COMMITTED) {
			commit();
		}
		else {
			this.written.forEach(Written::cancel);
		}
	}

	private void commit() {
		if (this.phase == Phase.COMMITTED) {
			return;
		}
		this.phase = Phase.COMMITTED;
		for (Written each : this.written) {
			if (each.handOff() != null) {
				each.handOff().committed(each.events());
			}
			else {
				this.handOffs.wake(each.events());
			}
		}
	}

	private void writeCollected() {
		this.phase = Phase.WRITTEN;
		List<SerializedEvent> events = List.copyOf(this.collected);
		this.collected.clear();
		write(events);
	}

	private void write(List<SerializedEvent> events) {
		if (events.isEmpty()) {
			return;
		}
		HandOffs.HandOff handOff = this.store.leasesAtBirth() ? this.handOffs.reserve(events) : null;
		boolean done = false;
		try {
			List<SerializedEvent> rows = this.store.append(events, (handOff != null) ? handOff.lease() : null);
			this.written.add(new Written(rows, handOff));
			done = true;
		}
		finally {
			if (!done && handOff != null) {
				handOff.cancel();
			}
		}
	}

	private enum Phase {

		OPEN, WRITTEN, COMMITTED

	}

	/**
	 * How much there was at a savepoint.
	 */
	private record Mark(int collected, int written) {

		static final Mark BEGINNING = new Mark(0, 0);

	}

	private record Written(List<SerializedEvent> events, HandOffs.@Nullable HandOff handOff) {

		void cancel() {
			if (this.handOff != null) {
				this.handOff.cancel();
			}
		}

	}

	/**
	 * What comes after everybody else.
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
