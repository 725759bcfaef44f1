package dev.idempotent.saga.store;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import org.jspecify.annotations.Nullable;

/**
 * The journal of all sagas, in the database of the application.
 * <p>
 * Each operation is one atomic step on the clock of the database. Those that take an
 * {@link SagaOwner} have an effect only while it owns the saga, and can be repeated after
 * a lost reply. Operations commit by themselves, except for those whose name ends with
 * {@code InTransaction}: they belong to the transaction of the calling thread. Failures
 * are {@link org.springframework.dao.DataAccessException}s; failures of a wait for a lock
 * are {@link org.springframework.dao.PessimisticLockingFailureException}s. A write need
 * not renew a lease of which two thirds remain.
 */
public interface SagaStore {

	/**
	 * How many UTF-16 units of a text for operators are stored.
	 */
	int LONGEST_TEXT = 1000;

	/**
	 * Inserts a saga with its first entries, unless its id exists. Waits for another
	 * transaction that inserts it. Its number of steps is the largest number of an entry.
	 * One that is {@link SagaStatus#STARTED} has no lease: it is due at once.
	 * @param saga the saga
	 * @param entries its entries
	 * @return {@code false} if the id exists, also after a lost reply
	 */
	boolean insert(NewSaga saga, List<JournalEntry> entries);

	/**
	 * Inserts a saga without entries, unless its id exists. Waits for another transaction
	 * that inserts it. Its number of steps is 1 if it is {@link SagaStatus#EXECUTING},
	 * for the step that the transaction contains. One that is {@link SagaStatus#STARTED}
	 * is due at once.
	 * @param saga the saga
	 * @return {@code false} if the id exists
	 */
	boolean insertInTransaction(NewSaga saga);

	/**
	 * Finds a saga with its entries.
	 * @param id the id
	 * @return the saga, or {@code null}
	 */
	@Nullable StoredSaga find(IdempotencyKey id);

	/**
	 * Finds a saga that the transaction could not insert, as its id exists. Needs another
	 * connection only if the isolation of the transaction hides the saga.
	 * @param id the id
	 * @return the saga, or {@code null}
	 */
	@Nullable StoredSaga findInTransaction(IdempotencyKey id);

	/**
	 * Writes entries of a saga that is {@link SagaStatus#EXECUTING} before its deadline,
	 * or {@link SagaStatus#COMPENSATING}. Renews the lease and resets the attempts. An
	 * entry that the journal has keeps the time at which it began.
	 * @param owner the owner
	 * @param status the expected status
	 * @param steps the new number of steps, not smaller than the stored one
	 * @param entries the entries; those with the state {@code ACTING} are new
	 * @param lease the lease
	 * @return {@code false} if nothing was written
	 */
	boolean write(SagaOwner owner, SagaStatus status, int steps, List<JournalEntry> entries, Duration lease);

	/**
	 * Locks a saga that is {@link SagaStatus#EXECUTING} before its deadline, or
	 * {@link SagaStatus#COMPENSATING}, until the end of the transaction. Renews the lease
	 * and resets the attempts.
	 * @param owner the owner
	 * @param status the expected status
	 * @param steps the new number of steps, larger than the stored one: it proves to
	 * {@link #writeInTransaction} that the lock was not lost
	 * @param lease the lease
	 * @return {@code false} if nothing was locked
	 */
	boolean lockInTransaction(SagaOwner owner, SagaStatus status, int steps, Duration lease);

	/**
	 * Writes entries of a saga that the transaction has locked or inserted.
	 * @param owner the owner
	 * @param steps the number of steps that was written with the lock; 1 if the saga was
	 * inserted
	 * @param entries the entries; each is inserted, or replaced if the journal has it
	 * @param lease the lease; zero leaves it as it was written with the lock
	 * @return {@code false} if the transaction has lost its lock, and must roll back
	 */
	boolean writeInTransaction(SagaOwner owner, int steps, List<JournalEntry> entries, Duration lease);

	/**
	 * Ends or halts a saga, or begins to undo it. The reason why it is halted replaces
	 * the reason why it is undone until an operator retries the saga.
	 * @param owner the owner
	 * @param change the change of its status
	 * @param entries entries to write with it
	 * @return {@code false} if nothing was written
	 */
	boolean change(SagaOwner owner, StatusChange change, List<JournalEntry> entries);

	/**
	 * Releases an open saga, so that any instance can take it over. It is no longer
	 * renewed.
	 * @param owner the owner
	 * @param entries entries to write with it
	 * @param delay the time until it can be taken over; it ends at the deadline, unless
	 * the saga is {@link SagaStatus#COMPENSATING}
	 * @return {@code false} if nothing was written
	 */
	boolean release(SagaOwner owner, List<JournalEntry> entries, Duration delay);

	/**
	 * Releases an open saga whose journal does not fit this instance, as {@link #release}
	 * does. Takes the attempt back, and counts the run as incompatible instead.
	 * @param owner the owner
	 * @param delay the time until it can be taken over
	 * @return {@code false} if nothing was written
	 */
	boolean releaseIncompatible(SagaOwner owner, Duration delay);

	/**
	 * Takes over a saga that is open and due. Raises its epoch and its attempts, turns
	 * {@link SagaStatus#STARTED} into {@link SagaStatus#EXECUTING}, or both into
	 * {@link SagaStatus#COMPENSATING} after the deadline, which resets the attempts to 1,
	 * commits, and then reads it. Skips it if it is locked.
	 * @param id the id
	 * @param process the id of this process
	 * @param lease the lease
	 * @return the saga, also if it {@linkplain StoredSaga#unreadable() cannot be read},
	 * or {@code null} if it cannot be taken over
	 */
	@Nullable StoredSaga takeOver(IdempotencyKey id, String process, Duration lease);

	/**
	 * Takes over sagas that are open and due, as {@link #takeOver} does, and reads each
	 * by itself: one that cannot be read does not affect the others. Skips those that are
	 * locked.
	 * @param names the names that this process serves
	 * @param process the id of this process
	 * @param lease the lease
	 * @param limit the largest number
	 * @return the sagas
	 */
	List<StoredSaga> takeOverDue(Collection<String> names, String process, Duration lease, int limit);

	/**
	 * Ends a wait of a saga that is {@link SagaStatus#EXECUTING} before its deadline, or
	 * releases the saga until the wait ends: when the signal arrives, or its time has
	 * passed. A signal that has arrived wins over the time, and no other transaction can
	 * add one meanwhile.
	 * @param owner the owner
	 * @param steps the new number of steps, not smaller than the stored one
	 * @param wait the wait, whose entry is written
	 * @param lease the lease of a saga that does not wait any more
	 * @return what the wait has ended with, if it has
	 */
	WaitEnd endWait(SagaOwner owner, int steps, Wait wait, Duration lease);

	/**
	 * Keeps a signal for a saga, whether or not that exists or waits for it, and makes a
	 * saga that waits for it due. The first one of a name counts.
	 * @param signal the signal
	 * @return what has become of it
	 */
	SignalReceipt signal(Signal signal);

	/**
	 * Keeps a signal for a saga, as {@link #signal} does, if the transaction commits.
	 * @param signal the signal
	 * @return what has become of it
	 */
	SignalReceipt signalInTransaction(Signal signal);

	/**
	 * Cancels a saga that is run, or was halted while it was run: its deadline becomes a
	 * time that is long ago. Makes it due unless it has an owner, who finds out at the
	 * next write. Waits for a step that runs in a transaction.
	 * @param id the id
	 * @param reason why it is undone
	 * @return what has become of it
	 */
	Cancellation cancel(IdempotencyKey id, String reason);

	/**
	 * Cancels a saga, as {@link #cancel} does, if the transaction commits.
	 * @param id the id
	 * @param reason why it is undone
	 * @return what has become of it
	 */
	Cancellation cancelInTransaction(IdempotencyKey id, String reason);

	/**
	 * Renews leases, also of sagas that are late or cancelled, which are undone by their
	 * owners. Skips sagas that are locked or released, and leases that an abort has
	 * ended.
	 * @param owners the owners
	 * @param lease the lease
	 */
	void renew(List<SagaOwner> owners, Duration lease);

	/**
	 * The stored form of a text for operators, which each database accepts: cut between
	 * characters after {@value #LONGEST_TEXT} UTF-16 units, and without NUL and
	 * incomplete characters.
	 * @param text a text, or {@code null}
	 * @return the stored form
	 */
	static @Nullable String text(@Nullable String text) {
		if (text == null) {
			return null;
		}
		int end = Math.min(LONGEST_TEXT, text.length());
		if (end < text.length() && Character.isSurrogatePair(text.charAt(end - 1), text.charAt(end))) {
			end--;
		}
		return text.substring(0, end)
			.codePoints()
			.map((point) -> (point == 0 || Character.getType(point) == Character.SURROGATE) ? '\uFFFD' : point)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString();
	}

	/**
	 * A change of the status of a saga.
	 *
	 * @param from the expected status; only before the deadline if it is
	 * {@link SagaStatus#EXECUTING} and the new one is not {@link SagaStatus#COMPENSATING}
	 * @param to the new status; an end removes the arguments and the results of steps
	 * @param result the result of a completed saga, or {@code null}
	 * @param reason why it is undone or halted, or {@code null} to leave it unchanged
	 * @param due the time until it is due: the lease of an open saga, the retention of
	 * one that has ended; ignored for {@link SagaStatus#HALTED}
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record StatusChange(SagaStatus from, SagaStatus to, byte @Nullable [] result, @Nullable String reason,
			Duration due) {
	}

	/**
	 * A wait that has begun.
	 *
	 * @param entry its entry, as it is recorded
	 * @param limit how long it lasts if no signal ends it, from its beginning
	 * @param expired the entry to write when that time has passed
	 */
	record Wait(JournalEntry entry, Duration limit, JournalEntry expired) {

		/**
		 * Whether a signal ends it.
		 * @return {@code false} if only time does
		 */
		public boolean isForSignal() {
			return this.entry.kind() == StepKind.SIGNAL;
		}

		/**
		 * The entry to write when the signal has arrived.
		 * @param content its value as it is stored
		 * @return the entry
		 */
		public JournalEntry arrived(byte[] content) {
			return this.entry.done(content);
		}

		/**
		 * The entry to write when the time has passed, although signals of other names
		 * have arrived that no wait has received.
		 * @param unread the names of these signals
		 * @return the entry
		 */
		public JournalEntry expiredBeside(Collection<String> unread) {
			return (unread.isEmpty() || this.expired.reason() == null) ? this.expired : this.expired
				.refused(this.expired.reason() + ". Signals of other names have arrived: " + String.join(", ", unread));
		}

	}

	/**
	 * How a wait goes on: it has ended with an entry, or the saga was released until it
	 * is due, or neither, because another owner has the saga.
	 *
	 * @param entry the entry that was written, or {@code null}
	 * @param due the time until the saga can be taken over, or {@code null}
	 */
	record WaitEnd(@Nullable JournalEntry entry, @Nullable Duration due) {

		/**
		 * Nothing was written.
		 */
		public static final WaitEnd LOST = new WaitEnd(null, null);

	}

	/**
	 * A signal for a saga.
	 *
	 * @param saga the id of the saga
	 * @param name the name of the signal
	 * @param content its value, in the stored form of the result of a step of this name
	 * @param fingerprint the fingerprint of its value
	 * @param retention how long it is kept if no saga comes for it
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record Signal(IdempotencyKey saga, String name, byte[] content, Fingerprint fingerprint, Duration retention) {
	}

	/**
	 * What has become of a signal.
	 *
	 * @param result what its sender is told
	 * @param woken the name of the saga that it has made due, or {@code null}
	 */
	record SignalReceipt(SignalResult result, @Nullable String woken) {
	}

	/**
	 * What has become of a cancellation.
	 *
	 * @param status the status of the saga, {@link SagaStatus#COMPENSATING} if it will be
	 * undone; {@code null} if there is no such saga
	 * @param woken the name of the saga if it is due, or {@code null}
	 */
	record Cancellation(@Nullable SagaStatus status, @Nullable String woken) {
	}

	/**
	 * A saga to insert.
	 *
	 * @param owner the id and the first epoch
	 * @param name the name
	 * @param status {@link SagaStatus#STARTED} or {@link SagaStatus#EXECUTING}
	 * @param process the id of the process that owns it
	 * @param fingerprint the fingerprint of the arguments
	 * @param arguments the arguments
	 * @param traceparent the trace context in which it is created, or {@code null}
	 * @param lease the lease
	 * @param timeout the time until its deadline
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record NewSaga(SagaOwner owner, String name, SagaStatus status, String process, Fingerprint fingerprint,
			byte[] arguments, @Nullable String traceparent, Duration lease, Duration timeout) {

		/**
		 * The id.
		 * @return the id
		 */
		public IdempotencyKey id() {
			return this.owner.id();
		}

	}

}
