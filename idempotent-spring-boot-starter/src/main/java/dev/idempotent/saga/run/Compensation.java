package dev.idempotent.saga.run;

import java.util.Set;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.run.FailureClassifier.Verdict;
import dev.idempotent.saga.run.LeaveBody.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Undoes the recorded steps of a saga in reverse order, by the undo actions that its body
 * has registered.
 */
final class Compensation {

	private final SagaRun run;

	private final SagaBody body;

	private final StepAction action;

	Compensation(SagaRun run, SagaBody body) {
		this.run = run;
		this.body = body;
		this.action = new StepAction(run);
	}

	/**
	 * Returns whether the body has registered all undo actions that are needed.
	 */
	boolean isPrepared() {
		return this.run.journal().toUndo().stream().allMatch((entry) -> this.body.reached(entry.name()) != null);
	}

	/**
	 * Undoes all steps that must still be undone.
	 * @throws LeaveBody if a step cannot be undone now, or at all
	 */
	void undo() {
		for (JournalEntry entry : this.run.journal().toUndo()) {
			this.body.requireRunning();
			StepCall<?> call = this.body.reached(entry.name());
			if (call == null) {
				throw LeaveBody.because(Cause.UNFIT, "The saga's method does not reach the step '" + entry.name()
						+ "' in this version of the application, so the step cannot be undone", null);
			}
			undo(call, entry);
		}
	}

	private void undo(StepCall<?> call, JournalEntry entry) {
		if (entry.kind() == StepKind.COMPENSATED_TRANSACTION) {
			new TransactionalStep(this.run).undo(call, entry, this.body.read(call, entry));
			return;
		}
		if (entry.kind() == StepKind.CANCELLED_CALL) {
			begin(entry);
			cancel(call, entry);
			return;
		}
		JournalEntry settled = entry.isUnknown() ? this.action.repeat(call, entry) : entry;
		if (settled.isDone()) {
			begin(settled);
			compensate(call, settled);
		}
	}

	/**
	 * Records that the undo is called, unless that is recorded. If the action is not
	 * known to be done, the service must still remember the key of the action, too.
	 */
	private void begin(JournalEntry entry) {
		if (!entry.isDone()) {
			this.action.requireRemembered(entry.name(), this.run.journal().age(entry.name()));
		}
		if (entry.state() == StepState.COMPENSATING) {
			this.action.requireRemembered(entry.name(), this.run.journal().compensatingFor(entry.name()));
		}
		else {
			this.run.write(entry.in(StepState.COMPENSATING));
		}
	}

	private void compensate(StepCall<?> call, JournalEntry entry) {
		Object result = this.body.read(call, entry);
		IdempotencyContext context = new StepKeys(this.run.owner(), entry)
			.undoContext(this.run.resources().settings().process());
		call(entry, context, () -> call.compensateResult(result));
	}

	private void cancel(StepCall<?> call, JournalEntry entry) {
		StepKeys keys = new StepKeys(this.run.owner(), entry);
		IdempotencyContext context = keys.cancelContext(this.run.resources().settings().process(), entry.isDone());
		call(entry, context, () -> {
			call.cancelAction(keys.action().digest());
			StepAction.requireOneCall(!call.cancellationTakesKey(), context, entry.name(), 1);
		});
	}

	private void call(JournalEntry entry, IdempotencyContext context, Runnable undo) {
		try (CalledStep called = new CalledStep(this.run, entry.name())) {
			try {
				StepAction.<@Nullable Object>bound(context, () -> {
					undo.run();
					StepAction.requireDone(context, entry.name());
					return null;
				});
			}
			catch (LeaveBody ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw failed(entry, context, ex);
			}
			this.run.journal().keep(entry.in(StepState.COMPENSATED));
			called.endedAs(StepState.COMPENSATED);
		}
	}

	/**
	 * Returns why the undo has failed. A refusal proves that this call had no effect, so
	 * an operator's retry is another call: the service may replay the refusal under the
	 * same key.
	 */
	private LeaveBody failed(JournalEntry entry, IdempotencyContext context, Throwable failure) {
		FailureClassifier failures = this.run.resources().failures();
		boolean first = entry.state() != StepState.COMPENSATING;
		Verdict verdict = failures.ofCall(failure, context, first, Set.of());
		if (verdict == Verdict.REFUSED) {
			this.run.journal().keep(entry.undoRefused());
		}
		return LeaveBody.because((verdict == Verdict.UNKNOWN) ? Cause.UNKNOWN : Cause.HALT,
				"The step '" + entry.name() + "' could not be undone: " + failures.describe(failure), failure);
	}

}
