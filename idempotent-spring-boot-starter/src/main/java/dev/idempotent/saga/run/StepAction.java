package dev.idempotent.saga.run;

import java.time.Duration;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyContext.Answer;
import dev.idempotent.idempotency.IdempotencyContext.Calls;
import dev.idempotent.saga.run.LeaveBody.Cause;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls the action of a step outside a transaction, under its key, and returns the
 * outcome.
 */
final class StepAction {

	private static final Logger logger = LoggerFactory.getLogger(StepAction.class);

	private static final String WITHOUT_KEY = ". No call carried the key of the step: if it called its service, list that "
			+ "in idempotent.client.targets";

	private final SagaRun run;

	StepAction(SagaRun run) {
		this.run = run;
	}

	/**
	 * Records that an action begins, and calls it.
	 * @return the entry with its outcome, which the next write contains
	 * @throws LeaveBody if the outcome is unknown
	 */
	JournalEntry begin(StepCall<?> call, JournalEntry entry) {
		this.run.write(entry);
		return act(call, entry, true);
	}

	/**
	 * Calls an action again whose outcome is unknown, with the same key.
	 * @return the entry with its outcome, which the next write contains
	 * @throws LeaveBody if the outcome is still unknown, or the key may be forgotten
	 */
	JournalEntry repeat(StepCall<?> call, JournalEntry entry) {
		requireRemembered(entry.name(), this.run.journal().age(entry.name()));
		return act(call, entry, false);
	}

	/**
	 * Leaves the body if a service may have forgotten a key since its first call.
	 */
	void requireRemembered(String step, Duration age) {
		Duration retention = this.run.resources().settings().participantRetention();
		if (age.compareTo(retention) > 0) {
			throw LeaveBody.because(Cause.EXPIRED,
					"The outcome of the step '" + step + "' is unknown, and its key is older than "
							+ "idempotent.saga.participant-retention (" + retention + ")",
					null);
		}
	}

	private JournalEntry act(StepCall<?> call, JournalEntry entry, boolean first) {
		StepKeys keys = new StepKeys(this.run.owner(), entry);
		boolean single = entry.kind() == StepKind.CANCELLED_CALL && !call.actionTakesKey();
		IdempotencyContext context = keys.actionContext(this.run.resources().settings().process(), single);
		try (CalledStep called = new CalledStep(this.run, entry.name())) {
			JournalEntry outcome;
			try {
				Object value = bound(context, () -> call.act(keys.action().digest()));
				requireOneCall(single, context, entry.name(), 1);
				requireDone(context, entry.name());
				if (!call.actionTakesKey()) {
					this.run.resources().unobserved().check(this.run.name(), entry.name(), context.calls());
				}
				outcome = entry.done(store(call, entry, value));
			}
			catch (LeaveBody ex) {
				throw ex;
			}
			catch (Throwable ex) {
				requireOneCall(single, context, entry.name(), 0);
				outcome = refused(call, entry, ex, context, first);
			}
			this.run.journal().keep(outcome);
			called.endedAs(outcome.state());
			return outcome;
		}
	}

	/**
	 * Returns the entry of a refused action.
	 * @throws LeaveBody if the exception does not prove a refusal
	 */
	private JournalEntry refused(StepCall<?> call, JournalEntry entry, Throwable failure, IdempotencyContext context,
			boolean first) {
		logger.debug("The step '{}' of saga {} has failed", entry.name(), this.run.id(), failure);
		FailureClassifier failures = this.run.resources().failures();
		String reason = failures.describe(failure);
		return switch (failures.ofCall(failure, context, first, call.refusals())) {
			case REFUSED -> entry.refused(reason);
			case HALT -> throw LeaveBody.because(Cause.HALT,
					"The step '" + entry.name() + "' failed, and no other attempt can settle it: " + reason, failure);
			case UNKNOWN -> throw LeaveBody.because(Cause.UNKNOWN, "The outcome of the step '" + entry.name()
					+ "' is unknown: " + reason + (isWithoutKey(call, entry, context) ? WITHOUT_KEY : ""), failure);
		};
	}

	private static boolean isWithoutKey(StepCall<?> call, JournalEntry entry, IdempotencyContext context) {
		return entry.kind() == StepKind.CANCELLED_CALL && !call.actionTakesKey() && context.calls().keyed() == 0;
	}

	/**
	 * The action is done, so a result that cannot be written must not count as a failure
	 * of the action.
	 */
	private byte[] store(StepCall<?> call, JournalEntry entry, @Nullable Object value) {
		RunResources resources = this.run.resources();
		try {
			return resources.form()
				.close(this.run.writeReadable(call.type(), value), this.run.id(), StoredForm.resultOf(entry.name()));
		}
		catch (SagaDefinition.UnreadableException ex) {
			throw LeaveBody.because(Cause.HALT, "The result of the step '" + entry.name()
					+ "' cannot be read back from JSON as " + call.type().getTypeName(), ex);
		}
		catch (RuntimeException ex) {
			throw LeaveBody.because(Cause.HALT,
					"The result of the step '" + entry.name() + "' cannot be stored: " + ex.getClass().getName(), ex);
		}
	}

	static <T extends @Nullable Object> T bound(IdempotencyContext context, Call<T> call) throws Throwable {
		IdempotencyContext outer = IdempotencyContext.bind(context);
		try {
			return call.make();
		}
		finally {
			IdempotencyContext.bind(outer);
		}
	}

	/**
	 * Leaves the body if a call that can be cancelled was not made under the key of its
	 * step alone: its cancellation would not find it.
	 */
	static void requireOneCall(boolean single, IdempotencyContext context, String step, int fewest) {
		int made = context.calls().keyed();
		if (single && (made < fewest || made > 1)) {
			throw LeaveBody.because(Cause.HALT, "The step '" + step + "' made " + made
					+ " calls under its key instead of one. List the service in idempotent.client.targets, make one "
					+ "call, or take the key and send it", null);
		}
	}

	/**
	 * Leaves the body if an action or undo has returned although one of its calls is not
	 * known to be done: it was redirected, or its failure was ignored.
	 */
	static void requireDone(IdempotencyContext context, String step) {
		Calls calls = context.calls();
		if (calls.open() > 0) {
			Answer answer = calls.lastAnswer();
			throw LeaveBody.because(Cause.UNKNOWN,
					"The outcome of the step '" + step + "' is unknown: it returned, but " + calls.open() + " of its "
							+ calls.made() + " calls did not end with a status of success"
							+ ((answer != null) ? ". The last status was " + answer.status() : ""),
					null);
		}
	}

	/**
	 * An action or undo of the application.
	 */
	@FunctionalInterface
	interface Call<T extends @Nullable Object> {

		T make() throws Throwable;

	}

}
