package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.engine.SagaRun.Presence;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.SagaStore;
import dev.idempotent.saga.store.StoredSaga;
import dev.idempotent.transaction.End;
import dev.idempotent.transaction.PendingChanges;
import dev.idempotent.transaction.TransactionScope;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Runs the action of a step, or its undo, in a transaction that also writes the journal.
 * The saga is locked first: neither its renewal nor another owner can change it until the
 * transaction has ended.
 */
final class TransactionalStep {

	private static final Logger logger = LoggerFactory.getLogger(TransactionalStep.class);

	private final SagaRun run;

	private final StepDefinition<?> call;

	private final FailureClassifier failures;

	private final String process;

	TransactionalStep(SagaRun run, StepDefinition<?> call) {
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
			TransactionOutcome<?> outcome = inTransaction(entry, (changes) -> {
				Object value = this.call.act(context);
				if (!stored && context.calls().keyed() > 0) {
					throw new IllegalStateException("The action has ignored that its call was not sent");
				}
				changes.flush();
				return this.run.done(entry, this.call.type(), value);
			});
			return outcome.isCommitted() ? Objects.requireNonNull(this.run.journal().at(entry.number()))
					: this.run.journal().keep(refused(entry, outcome, context));
		});
	}

	/**
	 * Until the saga is stored, calls get no keys: after a rollback, the saga would begin
	 * again with others.
	 */
	private IdempotencyContext actionContext(JournalEntry entry, boolean stored) {
		IdempotencyKey key = this.run.owner().actionKey(entry.name());
		if (stored) {
			return this.run.mayRepeat() ? this.call.repeatedContext(key, this.process, null)
					: this.call.firstContext(key, this.process);
		}
		return IdempotencyContext.refusingCalls(key, this.process,
				"The step '" + entry.name() + "' calls a service in the transaction that stores its saga, so a "
						+ "repetition would have another key. Nothing was sent. Call it in a step of its own: run");
	}

	/**
	 * Undoes a step.
	 * @throws RunAbortedError if the outcome is unknown, or the undo has failed
	 */
	void undo(JournalEntry entry) {
		Object result = this.run.resultOf(entry, this.call.type());
		IdempotencyKey key = this.run.owner().undoKey(entry);
		IdempotencyContext context = this.call
			.undoContext(this.run.mayRepeat() ? IdempotencyContext.forSingleCall(key, this.process, null, null)
					: IdempotencyContext.forSingleCall(key, this.process, null));
		this.run.observe(entry.name(), () -> {
			TransactionOutcome<?> outcome = inTransaction(entry, (changes) -> {
				this.call.compensate(context, result);
				changes.flush();
				return entry.in(StepState.COMPENSATED);
			});
			if (!outcome.isCommitted()) {
				this.call.requireOneCall(context);
				throw undoFailed(entry, outcome);
			}
			return Objects.requireNonNull(this.run.journal().at(entry.number()));
		});
	}

	private TransactionOutcome<List<JournalEntry>> inTransaction(JournalEntry entry,
			Function<PendingChanges, JournalEntry> work) {
		boolean first = this.run.presence() == Presence.ABSENT;
		int steps = first ? 1 : this.run.nextSteps();
		PlatformTransactionManager manager = this.run.resources().transactions();
		String name = this.run.name() + "." + entry.name();
		TransactionOutcome<List<JournalEntry>> outcome = run(manager, name, (changes) -> {
			long begun = System.nanoTime();
			lock(first, steps);
			List<JournalEntry> entries = this.run.journal().unwritten(apply(work, changes));
			if (!this.run.store().writeInTransaction(this.run.owner(), steps, entries, leaseAfter(begun))) {
				// The action has rolled back, or caught the exception of a deadlock.
				throw new CannotAcquireLockException("The database has rolled back the beginning of the step");
			}
			return entries;
		});
		if (outcome.isCommitted()) {
			this.run.written(steps, Objects.requireNonNull(outcome.result()));
		}
		else if (!outcome.isKnown()) {
			this.run.suspectWrite();
		}
		return outcome;
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
		// Whatever the reason why the journal's statement fails, the action has not
		// refused anything.
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
	private JournalEntry refused(JournalEntry entry, TransactionOutcome<?> outcome, IdempotencyContext context) {
		Throwable failure = failureOf(outcome);
		logger.debug("The step '{}' of saga {} was rolled back", entry.name(), this.run.id(),
				OutageLog.printable(failure));
		this.call.requireOneCall(context);
		boolean named = this.call.isRefusedWhen(failure);
		if (!outcome.isKnown() || (!named && isTransient(failure))
				|| (context.calls().made() > 0 && this.call.verdictOfAction(failure, this.failures.statusOf(failure),
						context, !this.run.mayRepeat(), false) != StepVerdict.REFUSED)) {
			throw new RunAbortedError(Cause.UNKNOWN,
					"The step '" + entry.name() + "' could not be committed: " + this.failures.describe(failure),
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
	 * The lock is written before the action: if it is still there after the rollback, the
	 * action has committed it together with a part of its own work.
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
			throw new RunAbortedError(Cause.HALT, HaltReason.COMMITTED_IN_PART.text(entry.name()), null);
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

	private RunAbortedError undoFailed(JournalEntry entry, TransactionOutcome<?> outcome) {
		Throwable failure = failureOf(outcome);
		return new RunAbortedError((!outcome.isKnown() || isTransient(failure)) ? Cause.UNKNOWN : Cause.HALT,
				HaltReason.UNDO_FAILED.text(entry.name(), this.failures.describe(failure)), failure);
	}

	private static boolean isTransient(Throwable failure) {
		return !(failure instanceof StepRefusedException) && TransientFailures.include(failure);
	}

	private static Throwable failureOf(TransactionOutcome<?> outcome) {
		return Objects.requireNonNull(outcome.failure());
	}

	/**
	 * Runs work in a new transaction.
	 * @throws RunAbortedError if the work throws it, after a rollback
	 */
	static <T> TransactionOutcome<T> run(PlatformTransactionManager manager, String name,
			Function<PendingChanges, T> work) {
		DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
		definition.setName(name);
		TransactionScope scope;
		T result;
		try {
			scope = TransactionScope.begin(manager, definition);
		}
		catch (IdempotentConfigurationException ex) {
			return TransactionOutcome.unknown(ex);
		}
		catch (Throwable ex) {
			return TransactionOutcome.rolledBack(ex);
		}
		if (!scope.isNew()) {
			scope.rollback();
			return TransactionOutcome
				.unknown(new IllegalTransactionStateException("A step runs in a transaction of its own"));
		}
		try {
			result = work.apply(scope.changes());
		}
		catch (RunAbortedError ex) {
			scope.rollback();
			throw ex;
		}
		catch (Throwable ex) {
			scope.rollback();
			return (scope.end() == End.ROLLED_BACK) ? TransactionOutcome.rolledBack(ex)
					: TransactionOutcome.unknown(ex);
		}
		return commit(scope, name, result);
	}

	private static <T> TransactionOutcome<T> commit(TransactionScope scope, String name, T result) {
		Throwable failure = null;
		try {
			scope.commit();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (scope.end() == End.COMMITTED) {
			if (failure != null) {
				logger.warn("The transaction of {} is committed, but a callback after it has failed with {}", name,
						failure.getClass().getName());
				logger.debug("The stack trace of the failure above", failure);
			}
			return TransactionOutcome.committed(result);
		}
		if (scope.end() == End.ROLLED_BACK) {
			return TransactionOutcome.rolledBack((failure != null) ? failure
					: new UnexpectedRollbackException("The transaction was marked as rollback-only"));
		}
		return TransactionOutcome
			.unknown((failure != null) ? failure : new TransactionSystemException("The commit was not reported"));
	}

	/**
	 * The outcome of work in a transaction.
	 *
	 * @param result the result of the work, if it was committed
	 * @param failure why it was not committed, or why that is unknown
	 * @param end how the transaction has ended
	 */
	record TransactionOutcome<T>(@Nullable T result, @Nullable Throwable failure, End end) {

		static <T> TransactionOutcome<T> committed(T result) {
			return new TransactionOutcome<>(result, null, End.COMMITTED);
		}

		static <T> TransactionOutcome<T> rolledBack(Throwable failure) {
			return new TransactionOutcome<>(null, failure, End.ROLLED_BACK);
		}

		static <T> TransactionOutcome<T> unknown(Throwable failure) {
			return new TransactionOutcome<>(null, failure, End.UNKNOWN);
		}

		boolean isCommitted() {
			return this.end == End.COMMITTED;
		}

		boolean isKnown() {
			return this.end != End.UNKNOWN;
		}

	}

}
