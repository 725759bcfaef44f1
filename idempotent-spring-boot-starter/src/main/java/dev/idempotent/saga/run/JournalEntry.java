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
 * @param refusedUndos how many undo calls were refused, each with a key of its own
 */
@SuppressWarnings("ArrayRecordComponent")
public record JournalEntry(String name, int number, StepKind kind, StepState state, byte @Nullable [] result,
		@Nullable String reason, int refusedUndos) {

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
		return new JournalEntry(this.name, this.number, this.kind, StepState.DONE, stored, null, this.refusedUndos);
	}

	JournalEntry refused(String because) {
		return new JournalEntry(this.name, this.number, this.kind, StepState.REFUSED, null, because, this.refusedUndos);
	}

	JournalEntry in(StepState next) {
		return new JournalEntry(this.name, this.number, this.kind, next, this.result, this.reason, this.refusedUndos);
	}

	/**
	 * Returns the entry without its result, which an ended saga does not need.
	 * @return the entry
	 */
	public JournalEntry withoutResult() {
		return new JournalEntry(this.name, this.number, this.kind, this.state, null, this.reason, this.refusedUndos);
	}

	/**
	 * Returns the entry of a step whose undo was refused: it is not being undone any
	 * more, and the next undo is another call.
	 */
	JournalEntry undoRefused() {
		StepState before = isDone() ? StepState.DONE : isRefused() ? StepState.REFUSED : StepState.ACTING;
		return new JournalEntry(this.name, this.number, this.kind, before, this.result, this.reason,
				this.refusedUndos + 1);
	}

}
