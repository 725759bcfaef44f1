package dev.idempotent.saga.run;

import java.util.List;
import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.run.FailureClassifier.Verdict;
import dev.idempotent.saga.run.LeaveBody.Cause;
import dev.idempotent.saga.run.SagaRun.Presence;
import dev.idempotent.saga.run.StepTransactions.End;
import dev.idempotent.work.RootCause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.TransactionStatus;

/**
 * Runs the action of a step, or its undo, in a transaction that also writes the journal.
 * The saga is locked first: neither its renewal nor another owner can change it until the
 * transaction has ended.
 */
final class TransactionalStep {

	private static final Logger logger = LoggerFactory.getLogger(TransactionalStep.class);

	private final SagaRun run;

	TransactionalStep(SagaRun run) {
		this.run = run;
	}

	/**
	 * Runs an action.
	 * @return the entry with its outcome
	 * @throws LeaveBody if the outcome is unknown, or another attempt may succeed
	 */
	JournalEntry act(StepCall<?> call, JournalEntry entry) {
		try (CalledStep called = new CalledStep(this.run, entry.name())) {
			StepKeys keys = new StepKeys(this.run.owner(), entry);
			String process = this.run.resources().settings().process();
			boolean stored = this.run.presence() != Presence.ABSENT;
			IdempotencyContext context = stored ? keys.actionContext(process, false)
					: keys.unstoredContext(process, entry.name());
			End<List<JournalEntry>> end = inTransaction(entry, (status) -> {
				Object value = StepAction.bound(context, () -> call.act(keys.action().digest()));
				StepAction.requireDone(context, entry.name());
				if (!stored && context.calls().keyed() > 0) {
					throw new IllegalStateException("The action has ignored that its call was not sent");
				}
				status.flush();
				return entry.done(store(call, entry, value));
			});
			JournalEntry outcome = end.committed() ? find(end, entry.name()) : refused(call, entry, end, context);
			if (!end.committed()) {
				this.run.journal().keep(outcome);
			}
			called.endedAs(outcome.state());
			return outcome;
		}
	}

	/**
	 * Undoes a step.
	 * @throws LeaveBody if the outcome is unknown, or the undo has failed
	 */
	void undo(StepCall<?> call, JournalEntry entry, @Nullable Object result) {
		try (CalledStep called = new CalledStep(this.run, entry.name())) {
			StepKeys keys = new StepKeys(this.run.owner(), entry);
			IdempotencyContext context = keys.undoContext(this.run.resources().settings().process());
			End<List<JournalEntry>> end = inTransaction(entry, (status) -> {
				StepAction.<@Nullable Object>bound(context, () -> {
					call.compensateResult(result);
					return null;
				});
				StepAction.requireDone(context, entry.name());
				status.flush();
				return entry.in(StepState.COMPENSATED);
			});
			if (!end.committed()) {
				throw undoFailed(entry, end);
			}
			called.endedAs(StepState.COMPENSATED);
		}
	}

	private End<List<JournalEntry>> inTransaction(JournalEntry entry, Work work) {
		boolean first = this.run.presence() == Presence.ABSENT;
		int steps = first ? 1 : this.run.nextSteps();
		End<List<JournalEntry>> end = this.run.resources()
			.transactions()
			.run(this.run.name() + "." + entry.name(), (status) -> {
				lock(first, steps);
				List<JournalEntry> entries = this.run.journal().unwritten(apply(work, status));
				if (!this.run.resources()
					.store()
					.writeInTransaction(this.run.owner(), steps, entries, this.run.lease())) {
					throw new LockLostException();
				}
				return entries;
			});
		if (end.committed()) {
			this.run.written(steps, Objects.requireNonNull(end.result()));
		}
		else if (!end.known()) {
			this.run.suspectWrite();
		}
		return end;
	}

	private void lock(boolean first, int steps) {
		SagaStore store = this.run.resources().store();
		try {
			if (!(first ? store.insertInTransaction(Objects.requireNonNull(this.run.fresh()))
					: store.lockInTransaction(this.run.owner(), this.run.status(), steps, this.run.lease()))) {
				throw LeaveBody.because(first ? Cause.EXISTS : Cause.LOST);
			}
		}
		catch (PessimisticLockingFailureException ex) {
			throw LeaveBody.because(first ? Cause.CONTENDED : Cause.UNKNOWN, FailureClassifier.reasonOf(ex), ex);
		}
	}

	/**
	 * Returns the entry of an action that was rolled back.
	 * @throws LeaveBody if another attempt may succeed, or the action has made calls,
	 * which a rollback does not undo
	 */
	private JournalEntry refused(StepCall<?> call, JournalEntry entry, End<?> end, IdempotencyContext context) {
		Throwable failure = failureOf(end);
		logger.debug("The step '{}' of saga {} was rolled back", entry.name(), this.run.id(), failure);
		if (!end.known() || isTransient(failure)
				|| (context.calls().made() > 0 && this.run.resources()
					.failures()
					.ofCall(failure, context, false, call.refusals()) != Verdict.REFUSED)) {
			throw LeaveBody.because(Cause.UNKNOWN,
					"The step '" + entry.name() + "' could not be committed: " + FailureClassifier.reasonOf(failure),
					forCaller(entry, failure));
		}
		String reason = this.run.resources().failures().describe(failure);
		if (!(failure instanceof StepRefusedException)) {
			// The message of a response contains its body.
			logger.warn("The step '{}' of saga {} ({}) has failed and counts as refused: {}{}", entry.name(),
					this.run.id(), this.run.name(), reason,
					reason.equals(FailureClassifier.reasonOf(failure)) ? ": " + RootCause.of(failure) : "");
		}
		return entry.refused(reason);
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

	private LeaveBody undoFailed(JournalEntry entry, End<?> end) {
		Throwable failure = failureOf(end);
		return LeaveBody.because((!end.known() || isTransient(failure)) ? Cause.UNKNOWN : Cause.HALT,
				"The step '" + entry.name() + "' could not be undone: " + FailureClassifier.reasonOf(failure), failure);
	}

	private static boolean isTransient(Throwable failure) {
		return !(failure instanceof StepRefusedException) && TransientFailures.include(failure);
	}

	private static Throwable failureOf(End<?> end) {
		return Objects.requireNonNull(end.failure());
	}

	/**
	 * A result that could not be read back would halt the saga, so it rolls the work
	 * back.
	 */
	private byte[] store(StepCall<?> call, JournalEntry entry, @Nullable Object value) {
		RunResources resources = this.run.resources();
		return resources.form()
			.close(this.run.writeReadable(call.type(), value), this.run.id(), StoredForm.resultOf(entry.name()));
	}

	private static JournalEntry apply(Work work, TransactionStatus status) {
		try {
			return work.apply(status);
		}
		catch (RuntimeException | Error ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("An action must not throw checked exceptions", ex);
		}
	}

	private static JournalEntry find(End<List<JournalEntry>> end, String name) {
		return Objects.requireNonNull(end.result())
			.stream()
			.filter((written) -> written.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	@FunctionalInterface
	private interface Work {

		JournalEntry apply(TransactionStatus status) throws Throwable;

	}

	/**
	 * The database has rolled back the beginning of the transaction, such as after a
	 * deadlock whose exception the action has caught.
	 */
	private static final class LockLostException extends CannotAcquireLockException {

		LockLostException() {
			super("The database has rolled back the beginning of the step");
		}

	}

}
