package dev.idempotent.saga.run;

import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;

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
 */
@SuppressWarnings("ArrayRecordComponent")
public record JournalEntry(String name, int number, StepKind kind, StepState state, byte @Nullable [] result,
		@Nullable String reason) {

	boolean isDone() {
		return this.result != null;
	}

	boolean isRefused() {
		return this.reason != null;
	}

	boolean isUnknown() {
		return this.result == null && this.reason == null;
	}

	JournalEntry done(byte[] stored) {
		return new JournalEntry(this.name, this.number, this.kind, StepState.DONE, stored, null);
	}

	JournalEntry refused(String because) {
		return new JournalEntry(this.name, this.number, this.kind, StepState.REFUSED, null, because);
	}

	JournalEntry in(StepState next) {
		return new JournalEntry(this.name, this.number, this.kind, next, this.result, this.reason);
	}

}
