package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.jdbc.PendingChanges;
import dev.idempotent.jdbc.TransactionInspector;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.FailureClassifier.Verdict;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.engine.SagaRun.Presence;
import dev.idempotent.saga.engine.SagaStore.JournalEntry;
import dev.idempotent.saga.engine.SagaStore.StoredSaga;
import dev.idempotent.work.OutageLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs the action of a step, or its undo, in a transaction that also writes the journal.
 * The saga is locked first: neither its renewal nor another owner can change it until the
 * transaction has ended.
 */
final class TransactionalStep {

	private static final Logger logger = LoggerFactory.getLogger(TransactionalStep.class);

	private final SagaRun run;

	private final StepCall<?> call;

	private final FailureClassifier failures;

	private final String process;

	TransactionalStep(SagaRun run, StepCall<?> call) {
		this.run = run;
		this.call = call;
		this.failures = run.resources().failures();
		this.process = run.resources().settings().process();
	}

	/**
	 * Runs an action.
	 * @return the entry with its outcome
	 * @throws RunAbortedError if the outcome is unknown, or another attempt may succeed
	 */
	JournalEntry act(JournalEntry entry) {
		boolean stored = this.run.presence() != Presence.ABSENT;
		IdempotencyContext context = actionContext(entry, stored);
		return this.run.observe(entry.name(), () -> {
			End<?> end = inTransaction(entry, (changes) -> {
				Object value = this.call.act(context);
				if (!stored && context.calls().keyed() > 0) {
					throw new IllegalStateException("The action has ignored that its call was not sent");
				}
				changes.flush();
				return this.run.done(entry, this.call.type(), value);
			});
			return end.isCommitted() ? Objects.requireNonNull(this.run.at(entry.number()))
					: this.run.keep(refused(entry, end, context));
		});
	}

	/**
	 * Until the saga is stored, calls get no keys: after a rollback, the saga would begin
	 * again with others.
	 */
	private IdempotencyContext actionContext(JournalEntry entry, boolean stored) {
		IdempotencyKey key = this.run.owner().actionKey(entry.name());
		return stored ? this.call.actionContext(key, this.process, null)
				: IdempotencyContext.refusingCalls(key, this.process, "The step '" + entry.name()
						+ "' calls a service in the transaction that stores its saga, so a "
						+ "repetition would have another key. Nothing was sent. Call it in a step of its own: run");
	}

	/**
	 * Undoes a step.
	 * @throws RunAbortedError if the outcome is unknown, or the undo has failed
	 */
	void undo(JournalEntry entry) {
		Object result = this.run.resultOf(entry, this.call.type());
		IdempotencyContext context = IdempotencyContext.forSingleCall(this.run.owner().undoKey(entry), this.process,
				null);
		this.run.observe(entry.name(), () -> {
			End<?> end = inTransaction(entry, (changes) -> {
				this.call.compensate(context, result);
				changes.flush();
				return entry.in(StepState.COMPENSATED);
			});
			if (!end.isCommitted()) {
				this.call.requireOneCall(context);
				throw undoFailed(entry, end);
			}
			return Objects.requireNonNull(this.run.at(entry.number()));
		});
	}

	private End<List<JournalEntry>> inTransaction(JournalEntry entry, Function<PendingChanges, JournalEntry> work) {
		boolean first = this.run.presence() == Presence.ABSENT;
		int steps = first ? 1 : this.run.nextSteps();
		PlatformTransactionManager manager = this.run.resources().transactions();
		String name = this.run.name() + "." + entry.name();
		End<List<JournalEntry>> end = run(manager, name, this.run.store(), (changes) -> {
			long begun = System.nanoTime();
			lock(first, steps);
			List<JournalEntry> entries = this.run.unwritten(apply(work, changes));
			if (!this.run.store().writeInTransaction(this.run.owner(), steps, entries, leaseAfter(begun))) {
				// The action has rolled back, or caught the exception of a deadlock.
				throw new CannotAcquireLockException("The database has rolled back the beginning of the step");
			}
			return entries;
		});
		if (end.isCommitted()) {
			this.run.written(steps, Objects.requireNonNull(end.result()));
		}
		else if (!end.known()) {
			this.run.suspectWrite();
		}
		return end;
	}

	/**
	 * After short work, at least half of the lease is left from the lock, which is longer
	 * than until the next renewal: the row need not be written again.
	 */
	private Duration leaseAfter(long begun) {
		Duration lease = this.run.lease();
		return (System.nanoTime() - begun > lease.toNanos() / 6) ? lease : Duration.ZERO;
	}

	private void lock(boolean first, int steps) {
		SagaStore store = this.run.store();
		try {
			if (!(first ? store.insertInTransaction(Objects.requireNonNull(this.run.fresh()))
					: store.lockInTransaction(this.run.owner(), this.run.status(), steps, this.run.lease()))) {
				throw new RunAbortedError(first ? Cause.EXISTS : Cause.LOST);
			}
		}
		// Whatever the journal's statement fails for, the action has not refused
		// anything.
		catch (DataAccessException ex) {
			boolean contended = first && ex instanceof PessimisticLockingFailureException;
			throw new RunAbortedError(contended ? Cause.CONTENDED : Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
	}

	private static JournalEntry apply(Function<PendingChanges, JournalEntry> work, PendingChanges changes) {
		try {
			return work.apply(changes);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("An action must not throw checked exceptions", ex);
		}
	}

	/**
	 * Returns the entry of an action that was rolled back. A result that cannot be read
	 * back rolls it back, too: it would halt the saga.
	 * @throws RunAbortedError if another attempt may succeed, the action has made calls,
	 * which a rollback does not undo, or it has committed a part of its work
	 */
	private JournalEntry refused(JournalEntry entry, End<?> end, IdempotencyContext context) {
		Throwable failure = failureOf(end);
		logger.debug("The step '{}' of saga {} was rolled back", entry.name(), this.run.id(),
				OutageLog.printable(failure));
		this.call.requireOneCall(context);
		if (!end.known() || isTransient(failure) || (context.calls().made() > 0
				&& this.failures.ofCall(failure, context, false, this.call.refusals()) != Verdict.REFUSED)) {
			throw new RunAbortedError(Cause.UNKNOWN,
					"The step '" + entry.name() + "' could not be committed: " + FailureClassifier.reasonOf(failure),
					forCaller(entry, failure));
		}
		requireRolledBack(entry);
		String reason = this.failures.describe(failure);
		if (!(failure instanceof StepRefusedException)) {
			// The message of a response contains its body.
			logger.warn("The step '{}' of saga {} ({}) has failed and counts as refused: {}{}", entry.name(),
					this.run.id(), this.run.name(), reason,
					reason.equals(FailureClassifier.reasonOf(failure)) ? ": " + OutageLog.reason(failure) : "");
		}
		return entry.refused(reason);
	}

	/**
	 * The lock is written before the action: if it is there after the rollback, so is
	 * what the action did before it has committed.
	 */
	private void requireRolledBack(JournalEntry entry) {
		StoredSaga stored;
		try {
			stored = this.run.store().find(this.run.id());
		}
		catch (RuntimeException ex) {
			this.run.suspectWrite();
			throw new RunAbortedError(Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
		if (stored != null && stored.owner().equals(this.run.owner()) && stored.steps() >= this.run.nextSteps()) {
			this.run.suspectWrite();
			throw new RunAbortedError(Cause.HALT, "The step '" + entry.name()
					+ "' has failed after it had committed its transaction: it called commit() on the connection, or a "
					+ "statement commits implicitly. Undo that part of its work before you retry the saga", null);
		}
	}

	/**
	 * Returns the documented exception for a failure of the database that nothing has
	 * translated. Spring MVC would take a broken connection below another exception for
	 * one to its client, and answer 200 without a body.
	 */
	private static Throwable forCaller(JournalEntry entry, Throwable failure) {
		return (failure instanceof DataAccessException || !TransientFailures.comeFromDriver(failure)) ? failure
				: new DataAccessResourceFailureException("The step '" + entry.name() + "' could not be committed",
						failure);
	}

	private static RunAbortedError undoFailed(JournalEntry entry, End<?> end) {
		Throwable failure = failureOf(end);
		return new RunAbortedError((!end.known() || isTransient(failure)) ? Cause.UNKNOWN : Cause.HALT,
				"The step '" + entry.name() + "' could not be undone: " + FailureClassifier.reasonOf(failure), failure);
	}

	private static boolean isTransient(Throwable failure) {
		return !(failure instanceof StepRefusedException) && TransientFailures.include(failure);
	}

	private static Throwable failureOf(End<?> end) {
		return Objects.requireNonNull(end.failure());
	}

	/**
	 * Runs work in a new transaction.
	 * @throws RunAbortedError if the work throws it, after a rollback
	 */
	static <T> End<T> run(PlatformTransactionManager manager, String name, SagaStore store,
			Function<PendingChanges, T> work) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
		definition.setName(name);
		AtomicInteger completion = new AtomicInteger(TransactionSynchronization.STATUS_UNKNOWN);
		Set<Object> outer = PendingChanges.sessions();
		TransactionStatus status;
		T result;
		try {
			status = TransactionInspector.begin(manager, definition);
		}
		catch (IdempotentConfigurationException ex) {
			return End.unknown(ex);
		}
		catch (Throwable ex) {
			return End.rolledBack(ex);
		}
		if (!status.isNewTransaction()) {
			rollback(manager, status);
			return End.unknown(new IllegalTransactionStateException("A step runs in a transaction of its own"));
		}
		try {
			TransactionSynchronizationManager.registerSynchronization(new Ending(completion, store));
			result = work.apply(PendingChanges.of(status, outer));
		}
		catch (RunAbortedError ex) {
			rollback(manager, status);
			throw ex;
		}
		catch (Throwable ex) {
			rollback(manager, status);
			return End.rolledBack(ex);
		}
		return commit(manager, status, name, result, completion);
	}

	private static <T> End<T> commit(PlatformTransactionManager manager, TransactionStatus status, String name,
			T result, AtomicInteger completion) {
		boolean marked = status.isRollbackOnly();
		try {
			manager.commit(status);
			if (marked || completion.get() == TransactionSynchronization.STATUS_ROLLED_BACK) {
				return End.rolledBack(new UnexpectedRollbackException("The transaction was marked as rollback-only"));
			}
			return (completion.get() == TransactionSynchronization.STATUS_COMMITTED) ? End.committed(result)
					: End.unknown(new TransactionSystemException("The commit was not reported"));
		}
		catch (Throwable ex) {
			if (completion.get() == TransactionSynchronization.STATUS_COMMITTED) {
				logger.warn("The transaction of {} is committed, but a callback after it has failed with {}", name,
						ex.getClass().getName());
				logger.debug("The stack trace of the failure above", ex);
				return End.committed(result);
			}
			// JPA reports a rollback even if the reply to the commit was lost.
			return (completion.get() == TransactionSynchronization.STATUS_ROLLED_BACK && !TransientFailures.include(ex))
					? End.rolledBack(ex) : End.unknown(ex);
		}
	}

	private static void rollback(PlatformTransactionManager manager, TransactionStatus status) {
		if (status.isCompleted()) {
			return;
		}
		try {
			manager.rollback(status);
		}
		catch (Throwable ex) {
			logger.debug("A step could not be rolled back; the database rolls it back when the connection ends", ex);
		}
	}

	/**
	 * Takes note of how a transaction has ended. Unannounced, it may have committed,
	 * whatever is reported, and so it may after a listener has thrown: see
	 * {@code TransactionInspector#rollBack}.
	 */
	private static final class Ending implements TransactionSynchronization {

		private final AtomicInteger completion;

		private final SagaStore store;

		private boolean announced;

		private Ending(AtomicInteger completion, SagaStore store) {
			this.completion = completion;
			this.store = store;
		}

		@Override
		public void beforeCompletion() {
			this.announced = true;
		}

		@Override
		public void afterCompletion(int status) {
			if (status != STATUS_COMMITTED) {
				this.store.rollBackInTransaction();
			}
			if (this.announced) {
				this.completion.set(status);
			}
		}

	}

	/**
	 * How a transaction has ended.
	 *
	 * @param result the result of the work, if it was committed
	 * @param failure why it was not committed, or why that is unknown
	 * @param known {@code false} if only the database knows whether it was committed
	 */
	record End<T>(@Nullable T result, @Nullable Throwable failure, boolean known) {

		static <T> End<T> committed(T result) {
			return new End<>(result, null, true);
		}

		static <T> End<T> rolledBack(Throwable failure) {
			return new End<>(null, failure, true);
		}

		static <T> End<T> unknown(Throwable failure) {
			return new End<>(null, failure, false);
		}

		boolean isCommitted() {
			return this.failure == null;
		}

	}

}
