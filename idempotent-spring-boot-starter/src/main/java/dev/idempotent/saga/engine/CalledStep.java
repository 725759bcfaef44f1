package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.concurrent.OutageLog;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.engine.RunAbortedError.Cause;
import dev.idempotent.saga.store.JournalEntry;
import dev.idempotent.saga.store.RecordedCall;
import dev.idempotent.saga.store.RecordedCall.AtMostOnce;
import dev.idempotent.saga.store.StepKind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the action of a step, or its undo, outside a transaction and under its key. The
 * journal records each before it is called, and its outcome with the next write.
 */
final class CalledStep {

	private static final Logger logger = LoggerFactory.getLogger(CalledStep.class);

	private final SagaRun run;

	private final StepDefinition<?> call;

	private final FailureClassifier failures;

	private final String process;

	CalledStep(SagaRun run, StepDefinition<?> call) {
		this.run = run;
		this.call = call;
		this.failures = run.resources().failures();
		this.process = run.resources().settings().process();
	}

	/**
	 * Records that an action begins, and calls it.
	 * @return the entry with its outcome
	 * @throws RunAbortedError if the outcome is unknown
	 */
	JournalEntry begin(JournalEntry entry) {
		JournalEntry begun = this.call.isAtMostOnce() ? entry.called(AtMostOnce.BEGUN) : entry;
		this.run.write(begun);
		return act(begun, true, true);
	}

	/**
	 * Calls an action again whose outcome is unknown, with the same key.
	 * @return the entry with its outcome
	 * @throws RunAbortedError if the outcome is still unknown, or the key may be
	 * forgotten
	 */
	JournalEntry repeat(JournalEntry entry) {
		if (this.call.isAtMostOnce()) {
			requireRetry(entry, "The outcome of the step '" + entry.name() + "' is unknown", null);
			return begin(entry);
		}
		requireRemembered(entry, this.run.journal().age(entry.name()));
		if (isNotMade(entry, this.run.owner().epoch())) {
			// This run has recorded that, and makes another attempt.
			this.run.write(entry.called(null));
			return act(entry.called(null), false, true);
		}
		return act(entry, false, isWithoutKey(entry));
	}

	/**
	 * Undoes a step, after it has determined whether a step to compensate was done.
	 * @throws RunAbortedError if it cannot be undone now, or at all
	 */
	void undo(JournalEntry entry) {
		boolean cancelled = entry.kind() == StepKind.CANCELLED_CALL;
		if (!cancelled && entry.isUnknown() && this.call.isAtMostOnce()) {
			throw new RunAbortedError(Cause.HALT, HaltReason.CALLED_AT_MOST_ONCE.text(
					"The outcome of the step '" + entry.name() + "' is unknown",
					"has done the action. If it has, undo that by hand. Then skip the step, and retry the saga"), null);
		}
		JournalEntry settled = (!cancelled && entry.isUnknown()) ? repeat(entry) : entry;
		if (cancelled || settled.isDone()) {
			callUndo(beginUndo(settled), cancelled);
		}
	}

	/**
	 * Halts the saga if an action or compensation that is called at most once has an
	 * unknown outcome, unless an operator has retried the saga since it was halted for
	 * that. Without a record, an earlier version may have made the call, in which it was
	 * not called at most once.
	 */
	private void requireRetry(JournalEntry entry, String reason, @Nullable Throwable cause) {
		if (entry.call() == AtMostOnce.RETRIED) {
			return;
		}
		this.run.journal().keep(entry.called(AtMostOnce.REPORTED));
		String advice = (entry.state() == StepState.COMPENSATING)
				? "has undone the action. If it has, skip the step. Otherwise retry the saga: the undo is called again"
				: "has done the action. If it has not, retry the saga: the action is called again. Otherwise abort the "
						+ "saga" + ((entry.kind() == StepKind.CANCELLED_CALL) ? ", which cancels the action"
								: ", and undo the action by hand");
		throw new RunAbortedError(Cause.HALT, HaltReason.CALLED_AT_MOST_ONCE.text(reason, advice), cause);
	}

	/**
	 * Calls an action.
	 * @param first whether it was not called before
	 * @param unsent whether no attempt has sent its key before
	 */
	private JournalEntry act(JournalEntry entry, boolean first, boolean unsent) {
		IdempotencyKey key = this.run.owner().actionKey(entry.name());
		IdempotencyContext context = unsent ? this.call.firstContext(key, this.process)
				: this.call.repeatedContext(key, this.process, madeCall(entry));
		return this.run.observe(entry.name(), () -> {
			try {
				Object value = limited(() -> this.call.act(context));
				requireObservedCall(entry, context, this.call.actionTakesKey(), null);
				this.call.requireJudgedCall(context);
				warnOfUnobservedCall(entry, context);
				return this.run.journal().keep(done(entry, value));
			}
			catch (RunAbortedError ex) {
				throw remembered(entry, context, ex);
			}
			catch (Throwable ex) {
				this.call.requireOneCall(context);
				requireObservedCall(entry, context, this.call.actionTakesKey(), ex);
				return this.run.journal().keep(refused(entry, ex, context, first));
			}
		});
	}

	private @Nullable Object limited(Supplier<@Nullable Object> call) {
		Duration stated = this.call.timeout();
		return this.run.limited(this.call.name(),
				(stated != null) ? stated : this.run.resources().settings().stepTimeout(), call);
	}

	/**
	 * Records the call whose outcome is unknown, with the release of the saga; or that
	 * neither this attempt nor an earlier one has made a call under the key. After a
	 * crash there is no record: the next attempt is not compared, and makes no call
	 * without a key.
	 */
	private RunAbortedError remembered(JournalEntry entry, IdempotencyContext context, RunAbortedError left) {
		if (left.why() == Cause.UNKNOWN && isOnce(entry)) {
			requireRetry(entry.called(AtMostOnce.BEGUN), left.reason(), left.getCause());
		}
		if (left.why() == Cause.UNKNOWN && context.isSingleCall()) {
			RecordedCall call = callOf(context);
			if (call != null && !call.equals(entry.call())) {
				this.run.journal().keep(entry.called(call));
			}
		}
		return left;
	}

	private @Nullable RecordedCall callOf(IdempotencyContext context) {
		String made = context.singleCall();
		if (made != null) {
			return new RecordedCall.Made(made);
		}
		return context.isRepeated() ? null : new RecordedCall.NotMade(this.run.owner().epoch());
	}

	/**
	 * Whether the action, or the undo in progress, is called at most once. A cancellation
	 * names what it cancels.
	 */
	private boolean isOnce(JournalEntry entry) {
		return this.call.isAtMostOnce()
				&& (entry.kind() != StepKind.CANCELLED_CALL || entry.state() == StepState.ACTING);
	}

	/**
	 * Whether no attempt before this one has made a call under the key. Only the next
	 * owner can know: that owner may have made one, and died.
	 */
	private boolean isWithoutKey(JournalEntry entry) {
		return isNotMade(entry, this.run.owner().epoch() - 1);
	}

	private static boolean isNotMade(JournalEntry entry, long epoch) {
		return entry.call() instanceof RecordedCall.NotMade none && none.epoch() == epoch;
	}

	/**
	 * Returns the identity of the call that an earlier attempt has made, or {@code null}
	 * if that is not known.
	 */
	private static @Nullable String madeCall(JournalEntry entry) {
		return (entry.call() instanceof RecordedCall.Made made) ? made.identity() : null;
	}

	/**
	 * The action is done, so a result that cannot be written must not count as a failure
	 * of the action.
	 */
	private JournalEntry done(JournalEntry entry, @Nullable Object value) {
		try {
			return this.run.done(entry, this.call.type(), value);
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw new RunAbortedError(Cause.HALT,
					HaltReason.RESULT_NOT_READABLE.text(entry.name(), this.call.type().getTypeName()), ex);
		}
		catch (RuntimeException ex) {
			throw new RunAbortedError(Cause.HALT,
					HaltReason.RESULT_NOT_WRITABLE.text(entry.name(), ex.getClass().getName()), ex);
		}
	}

	/**
	 * Returns the entry of a refused action.
	 * @throws RunAbortedError if the exception does not prove a refusal
	 */
	private JournalEntry refused(JournalEntry entry, Throwable failure, IdempotencyContext context, boolean first) {
		logger.debug("The step '{}' of saga {} has failed", entry.name(), this.run.id(), OutageLog.printable(failure));
		String reason = this.failures.describe(failure);
		boolean repeatsCall = !first && context.isRepeated() && mayHaveCalled(entry);
		return switch (this.call.verdictOfAction(failure, this.failures.statusOf(failure), context, first,
				repeatsCall)) {
			case REFUSED -> entry.refused(reason);
			case HALT ->
				throw new RunAbortedError(Cause.HALT, HaltReason.KEY_REJECTED.text(entry.name(), reason), failure);
			case DONE, ALREADY_UNDONE, UNKNOWN -> throw remembered(entry, context, new RunAbortedError(Cause.UNKNOWN,
					HaltReason.OUTCOME_UNKNOWN.text(entry.name(), reason + advice(context, repeatsCall)), failure));
		};
	}

	/**
	 * Whether an earlier attempt may have made a call that is observed. The exception of
	 * a client that is not observed tells of its call by itself.
	 */
	private boolean mayHaveCalled(JournalEntry entry) {
		return this.failures.requiresObservedCalls()
				|| (entry.call() != null && !(entry.call() instanceof RecordedCall.NotMade));
	}

	private String advice(IdempotencyContext context, boolean repeatsCall) {
		if (repeatsCall && context.calls().made() == 0) {
			return ". No call was observed in this attempt, but an earlier attempt may have made its call";
		}
		return (this.call.isCancelledByKey() && context.calls().keyed() == 0)
				? ". No call carried the key of the step: if it called its service, list that in "
						+ "idempotent.client.targets"
				: StepDefinition.adviceOnProof(context.calls().lastAnswer()) + StepDefinition.adviceOn(context);
	}

	/**
	 * Aborts the run at the first call that was not observed although services are
	 * listed: it carried no key, so it must not be repeated.
	 * @param takesKey whether the application sends the key itself
	 * @param failure what the call has thrown, or {@code null} if it has returned
	 */
	private void requireObservedCall(JournalEntry entry, IdempotencyContext context, boolean takesKey,
			@Nullable Throwable failure) {
		if (!takesKey && this.failures.requiresObservedCalls() && !context.hasCalls()
				&& (failure == null || this.failures.isOfCall(failure))) {
			throw new RunAbortedError(Cause.HALT,
					HaltReason.CALL_NOT_OBSERVED.text(entry.name(),
							(failure == null) ? "returned" : "failed with " + this.failures.describe(failure)),
					failure);
		}
	}

	/**
	 * Warns, once for each saga, of a step that has neither made a call that was observed
	 * nor taken its key.
	 */
	private void warnOfUnobservedCall(JournalEntry entry, IdempotencyContext context) {
		Calls calls = context.calls();
		if (!this.call.actionTakesKey() && (calls.made() == 0 || (calls.keyed() == 0 && context.hasKeylessCall()))
				&& this.run.resources().unobserved().add(this.run.name())) {
			logger
				.warn("The step '{}' of the saga {} has returned, and no call with a key was observed: if it has called a "
						+ "service, then without a key and whatever the response was. Use a client with the interceptor "
						+ "on the thread of the saga, and list each location of the service in "
						+ "idempotent.client.targets, or take the key and send it. Use "
						+ "runInTransaction for work in the database", entry.name(), this.run.name());
		}
	}

	/**
	 * Records that the undo is called, unless that is recorded. If the outcome of the
	 * action is unknown, the service must still remember the key of the action, too.
	 */
	private JournalEntry beginUndo(JournalEntry entry) {
		if (this.call.isAtMostOnce() && entry.kind() == StepKind.COMPENSATED_CALL) {
			return beginOnlyUndo(entry);
		}
		if (entry.isUnknown()) {
			requireRemembered(entry, this.run.journal().age(entry.name()));
		}
		if (entry.state() == StepState.COMPENSATING) {
			requireRemembered(entry, this.run.journal().compensatingFor(entry.name()));
		}
		else {
			this.run.write(entry.in(StepState.COMPENSATING));
		}
		return entry;
	}

	/**
	 * After the retry of an operator, who knows that the call before had no effect, the
	 * undo is called as the first time.
	 */
	private JournalEntry beginOnlyUndo(JournalEntry entry) {
		if (entry.state() == StepState.COMPENSATING) {
			requireRetry(entry, "The outcome of the undo of the step '" + entry.name() + "' is unknown", null);
		}
		this.run.write(entry.in(StepState.COMPENSATING).called(AtMostOnce.BEGUN));
		return entry.in(StepState.DONE);
	}

	private void callUndo(JournalEntry entry, boolean cancelled) {
		IdempotencyKey key = this.run.owner().undoKey(entry);
		String action = this.run.owner().actionKey(entry.name()).digest();
		Object result = cancelled ? null : this.run.resultOf(entry, this.call.type());
		String cancels = cancelled ? action + "; outcome=" + (entry.isDone() ? "done" : "unknown") : null;
		boolean unsent = entry.state() != StepState.COMPENSATING || isWithoutKey(entry);
		IdempotencyContext context = this.call
			.undoContext(undoing(key, cancels, unsent || this.call.undoTakesKey(), madeCall(entry)));
		this.run.observe(entry.name(), () -> {
			try {
				limited(() -> {
					if (cancelled) {
						this.call.cancel(context, action);
					}
					else {
						this.call.compensate(context, result);
					}
					return null;
				});
				requireObservedCall(entry, context, this.call.undoTakesKey(), null);
				this.call.requireJudgedCall(context);
			}
			catch (RunAbortedError ex) {
				throw remembered(entry.in(StepState.COMPENSATING), context, ex);
			}
			catch (Throwable ex) {
				this.call.requireOneCall(context);
				requireObservedCall(entry, context, this.call.undoTakesKey(), ex);
				requireUndone(entry, context, ex);
			}
			return this.run.journal().keep(entry.in(StepState.COMPENSATED));
		});
	}

	/**
	 * Returns the context of an undo. If the application sends the key of a compensation
	 * itself, other calls get keys of their own, as in an action; a cancellation is
	 * identified by the key of its action.
	 * @param unsent whether no attempt has sent its key before, or the service recognizes
	 * its call without the interceptor
	 */
	private IdempotencyContext undoing(IdempotencyKey key, @Nullable String cancels, boolean unsent,
			@Nullable String earlierCall) {
		if (cancels == null && this.call.undoTakesKey()) {
			return new IdempotencyContext(key, this.process);
		}
		return unsent ? IdempotencyContext.forSingleCall(key, this.process, cancels)
				: IdempotencyContext.forSingleCall(key, this.process, cancels, earlierCall);
	}

	/**
	 * Aborts the run unless the failure of an undo proves that the step was undone
	 * before. A refusal proves that this call had no effect, so an operator's retry is
	 * another call: the service may replay the refusal under the same key.
	 */
	private void requireUndone(JournalEntry entry, IdempotencyContext context, Throwable failure) {
		boolean first = entry.state() != StepState.COMPENSATING;
		StepVerdict verdict = this.call.verdictOfUndo(failure, this.failures.statusOf(failure), context, first);
		if (verdict == StepVerdict.ALREADY_UNDONE) {
			return;
		}
		if (verdict == StepVerdict.REFUSED) {
			this.run.journal().keep(entry.undoRefused());
		}
		throw remembered(entry.in(StepState.COMPENSATING), context,
				new RunAbortedError((verdict == StepVerdict.UNKNOWN) ? Cause.UNKNOWN : Cause.HALT,
						HaltReason.UNDO_FAILED.text(entry.name(),
								this.failures.describe(failure)
										+ StepDefinition.adviceOnProof(context.calls().lastAnswer())
										+ StepDefinition.adviceOn(context)),
						failure));
	}

	/**
	 * Aborts the run if a service may have forgotten a key since its first call.
	 */
	private void requireRemembered(JournalEntry entry, Duration age) {
		Duration retention = this.run.resources().settings().participantRetention();
		if (age.compareTo(retention) > 0) {
			throw new RunAbortedError(Cause.EXPIRED, HaltReason.KEY_EXPIRED.text(entry.name(), retention), null);
		}
	}

}
