package dev.idempotent.saga.run;

import java.time.Duration;
import java.util.Collection;
import java.util.List;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;

/**
 * The journal of all sagas, in the database of the application.
 * <p>
 * Each operation is one atomic step on the clock of the database. Those that take an
 * {@link Owner} have an effect only while it owns the saga, and can be repeated after a
 * lost reply. Operations commit by themselves, except for those whose name ends with
 * {@code InTransaction}: they belong to the transaction of the calling thread. Failures
 * are {@link org.springframework.dao.DataAccessException}s; those of a wait for a lock
 * are {@link org.springframework.dao.PessimisticLockingFailureException}s.
 */
public interface SagaStore {

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
	 * @param lease the lease
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
	 * @param delay the time until it can be taken over
	 * @return {@code false} if nothing was written
	 */
	boolean release(SagaOwner owner, List<JournalEntry> entries, Duration delay);

	/**
	 * Releases an open saga whose journal does not fit this instance, as {@link #release}
	 * does. Takes the attempt back, and counts the run as unfit instead.
	 * @param owner the owner
	 * @param delay the time until it can be taken over
	 * @return {@code false} if nothing was written
	 */
	boolean releaseUnfit(SagaOwner owner, Duration delay);

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
	 * Renews leases, but not beyond the deadline of a saga that is not
	 * {@link SagaStatus#COMPENSATING}. Skips sagas that are locked or released.
	 * @param owners the owners
	 * @param lease the lease
	 */
	void renew(List<SagaOwner> owners, Duration lease);

	/**
	 * A change of the status of a saga.
	 *
	 * @param from the expected status; only before the deadline if it is
	 * {@link SagaStatus#EXECUTING} and the new one is {@link SagaStatus#COMPLETED}
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

}
