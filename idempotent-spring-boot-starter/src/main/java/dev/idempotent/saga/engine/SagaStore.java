package dev.idempotent.saga.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepState;
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
	 * owners. Skips sagas that are locked or released.
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

	/**
	 * A saga as it is stored.
	 *
	 * @param owner the id and the epoch
	 * @param name the name
	 * @param status the status
	 * @param steps how many times a step has begun
	 * @param attempts how often it was taken over without progress
	 * @param incompatibleRuns how often its journal did not fit the instance that had
	 * taken it over, which does not count as an attempt
	 * @param fingerprint the fingerprint of the arguments
	 * @param arguments the arguments; {@code null} after its end
	 * @param result the result, if it has completed
	 * @param reason why it is undone or halted, or {@code null}
	 * @param due the time until it can be taken over, not positive if it can; of an ended
	 * saga, the rest of its retention; not positive if it is halted
	 * @param age the time since it was created
	 * @param createdAt when it was created
	 * @param deadline its deadline
	 * @param waitsFor the name of the wait because of which it has no owner, or
	 * {@code null}
	 * @param traceparent the trace context in which it was created, or {@code null}
	 * @param journal the entries, in the order of their numbers
	 * @param unreadable why it cannot be read here, or {@code null}
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record StoredSaga(SagaOwner owner, String name, SagaStatus status, int steps, int attempts, int incompatibleRuns,
			Fingerprint fingerprint, byte @Nullable [] arguments, byte @Nullable [] result, @Nullable String reason,
			Duration due, Duration age, Instant createdAt, Instant deadline, @Nullable String waitsFor,
			@Nullable String traceparent, List<StoredStep> journal, @Nullable String unreadable) {

		/**
		 * Creates a saga that was taken over and not read yet.
		 * @param owner the new owner
		 * @param name the name
		 * @param status the status
		 * @param attempts how often it was taken over without progress
		 * @param incompatibleRuns how often it did not fit an instance
		 * @return the saga without what is unknown
		 */
		public static StoredSaga unread(SagaOwner owner, String name, SagaStatus status, int attempts,
				int incompatibleRuns) {
			return new StoredSaga(owner, name, status, 0, attempts, incompatibleRuns, new Fingerprint(0, ""), null,
					null, null, Duration.ZERO, Duration.ZERO, Instant.EPOCH, Instant.EPOCH, null, null, List.of(),
					"The saga was not read");
		}

		/**
		 * Returns this saga as one that cannot be read.
		 * @param why why it cannot be read
		 * @return the saga
		 */
		public StoredSaga unreadable(String why) {
			return new StoredSaga(this.owner, this.name, this.status, this.steps, this.attempts, this.incompatibleRuns,
					this.fingerprint, this.arguments, this.result, this.reason, this.due, this.age, this.createdAt,
					this.deadline, this.waitsFor, this.traceparent, this.journal, why);
		}

		/**
		 * Returns whether it is open and has no owner.
		 */
		boolean isDue() {
			return this.status.isOpen() && (this.due.isNegative() || this.due.isZero());
		}

		/**
		 * Returns whether its deadline has passed, by the clock of the database. Its age
		 * is in whole milliseconds.
		 */
		boolean isLate() {
			return !this.createdAt.plus(this.age).plusMillis(1).isBefore(this.deadline);
		}

		/**
		 * Returns what applications see of it.
		 * @return the snapshot
		 */
		public SagaSnapshot toSnapshot() {
			return new SagaSnapshot(this.owner.id(), this.name, this.status, this.reason, this.attempts, this.createdAt,
					this.deadline, waiting(),
					this.journal.stream().map((step) -> step.toSnapshot(this.owner)).toList());
		}

		/**
		 * Returns what it waits for, or {@code null}.
		 */
		SagaSnapshot.@Nullable Waiting waiting() {
			Instant now = this.createdAt.plus(this.age);
			return this.journal.stream()
				.filter((step) -> step.entry().name().equals(this.waitsFor))
				.map((step) -> new SagaSnapshot.Waiting(step.entry().name(), step.entry().kind() == StepKind.SIGNAL,
						now.minus(step.age()), now.plus(this.due)))
				.findFirst()
				.orElse(null);
		}

	}

	/**
	 * An entry of the journal as it is stored.
	 *
	 * @param entry the entry
	 * @param age the time since the step began
	 * @param compensatingFor the time since it is being undone; zero if it is not
	 * @param note the note of the operator who skipped it, or {@code null}
	 */
	record StoredStep(JournalEntry entry, Duration age, Duration compensatingFor, @Nullable String note) {

		SagaSnapshot.Step toSnapshot(SagaOwner owner) {
			return new SagaSnapshot.Step(this.entry.name(), this.entry.state(), this.entry.reason(), this.note,
					owner.actionKey(this.entry.name()), owner.undoKey(this.entry));
		}

	}

	/**
	 * What the journal records of a step. The outcome of its action is the result or the
	 * reason, and remains recorded while the step is undone; it is unknown without both.
	 *
	 * @param name the name of the step
	 * @param number its place in the order in which the steps began, from 1
	 * @param kind how it runs and is undone
	 * @param state the state
	 * @param result the result of an action that was done, never empty; else {@code null}
	 * @param reason why the action was refused, or {@code null}
	 * @param refusedUndos how many undo calls were refused, each with a key of its own
	 * @param call the call of the action or undo in this state, if it was made and its
	 * outcome is unknown, or which owner has made none, or that it must not be repeated:
	 * at most 300 characters
	 */
	@SuppressWarnings("ArrayRecordComponent")
	record JournalEntry(String name, int number, StepKind kind, StepState state, byte @Nullable [] result,
			@Nullable String reason, int refusedUndos, @Nullable String call) {

		/**
		 * Stands for a call that must not be repeated.
		 */
		public static final String ONCE = "once";

		/**
		 * Stands for a call that must not be repeated, and because of which the saga was
		 * halted.
		 */
		public static final String ONCE_REPORTED = "once reported";

		/**
		 * Stands for a call that may be made again, because an operator has retried the
		 * saga that was halted because of it.
		 */
		public static final String ONCE_RETRIED = "once retried";

		private static final Set<String> WITHOUT_UNDO = Set.of(StepKind.TRANSACTION.name(), StepKind.CALL.name(),
				StepKind.SIGNAL.name(), StepKind.SLEEP.name(), StepKind.VERSION.name());

		private static final Set<String> UNDONE = Set.of(StepState.COMPENSATED.name(), StepState.SKIPPED.name());

		boolean isDone() {
			return this.result != null;
		}

		boolean isRefused() {
			return this.reason != null;
		}

		boolean isUnknown() {
			return this.result == null && this.reason == null;
		}

		/**
		 * Whether it must be undone before the saga is compensated.
		 */
		boolean isToUndo() {
			return isToUndo(this.kind.name(), this.state.name(), isRefused());
		}

		/**
		 * Whether a step must be undone, also if a later version of the application has
		 * recorded it.
		 */
		static boolean isToUndo(String kind, String state, boolean refused) {
			return !WITHOUT_UNDO.contains(kind) && !UNDONE.contains(state)
					&& (!refused || kind.equals(StepKind.CANCELLED_CALL.name()));
		}

		JournalEntry done(byte[] stored) {
			return new JournalEntry(this.name, this.number, this.kind, StepState.DONE, stored, null, this.refusedUndos,
					null);
		}

		JournalEntry refused(String because) {
			return new JournalEntry(this.name, this.number, this.kind, StepState.REFUSED, null, because,
					this.refusedUndos, null);
		}

		JournalEntry in(StepState next) {
			return new JournalEntry(this.name, this.number, this.kind, next, this.result, this.reason,
					this.refusedUndos, (next == this.state) ? this.call : null);
		}

		/**
		 * Returns the entry with the call whose outcome is unknown.
		 */
		JournalEntry called(@Nullable String made) {
			return new JournalEntry(this.name, this.number, this.kind, this.state, this.result, this.reason,
					this.refusedUndos, made);
		}

		/**
		 * Returns the entry without its result, which an ended saga does not need.
		 * @return the entry
		 */
		public JournalEntry withoutResult() {
			return new JournalEntry(this.name, this.number, this.kind, this.state, null, this.reason, this.refusedUndos,
					null);
		}

		/**
		 * Returns the entry of a step whose undo was refused: it is not being undone any
		 * more, and the next undo is another call.
		 */
		JournalEntry undoRefused() {
			StepState before = isDone() ? StepState.DONE : isRefused() ? StepState.REFUSED : StepState.ACTING;
			return new JournalEntry(this.name, this.number, this.kind, before, this.result, this.reason,
					this.refusedUndos + 1, null);
		}

	}

	/**
	 * How a step runs and how it is undone. Stored by name.
	 */
	enum StepKind {

		/**
		 * In a transaction; not undone.
		 */
		TRANSACTION,

		/**
		 * In a transaction; undone in a transaction.
		 */
		COMPENSATED_TRANSACTION,

		/**
		 * Outside a transaction; not undone.
		 */
		CALL,

		/**
		 * Outside a transaction; undone by an action that needs its result.
		 */
		COMPENSATED_CALL,

		/**
		 * Outside a transaction; undone by a cancellation.
		 */
		CANCELLED_CALL,

		/**
		 * Waits for a signal.
		 */
		SIGNAL,

		/**
		 * Waits for some time.
		 */
		SLEEP,

		/**
		 * Records the version of the method that has reached its place.
		 */
		VERSION;

		boolean isTransactional() {
			return this == TRANSACTION || this == COMPENSATED_TRANSACTION;
		}

	}

	/**
	 * Proves the ownership of a saga, and fences late owners.
	 *
	 * @param id the id of the saga
	 * @param epoch a number that each new owner raises by 1. Its upper bits are random
	 * and part of all keys: a saga that has the id of an expired one has other keys, and
	 * the owners of the expired one cannot write to it
	 */
	record SagaOwner(IdempotencyKey id, long epoch) {

		private static final int COUNTER_BITS = 20;

		/**
		 * Creates the first owner of a saga.
		 */
		static SagaOwner first(IdempotencyKey id) {
			return new SagaOwner(id, (ThreadLocalRandom.current().nextLong() >>> (COUNTER_BITS + 1)) << COUNTER_BITS);
		}

		/**
		 * Whether it is the second owner: the first one that runs a saga that was started
		 * in the background.
		 */
		boolean isSecond() {
			return (this.epoch & ((1L << COUNTER_BITS) - 1)) == 1;
		}

		/**
		 * The random part of the epoch. All owners of this saga share it. An earlier saga
		 * with the same id had another one.
		 * @return the random part of the epoch
		 */
		public long generation() {
			return this.epoch >>> COUNTER_BITS;
		}

		/**
		 * The key of the action of a step, the same in every attempt.
		 */
		IdempotencyKey actionKey(String step) {
			return key(step, "do");
		}

		/**
		 * The key of the undo of a step, the same in every attempt. Only an undo that was
		 * refused is called under another key if an operator retries it.
		 */
		IdempotencyKey undoKey(JournalEntry step) {
			return undoKey(step.name(), step.refusedUndos());
		}

		/**
		 * The key of the undo of a step, of which this many calls were refused.
		 */
		IdempotencyKey undoKey(String step, int refusedUndos) {
			return key(step, (refusedUndos > 0) ? "undo " + refusedUndos : "undo");
		}

		private IdempotencyKey key(String step, String part) {
			return IdempotencyKey.of(IdempotencyKey.Kind.SAGA, this.id.digest(), part, step,
					Long.toHexString(generation()));
		}

	}

}
