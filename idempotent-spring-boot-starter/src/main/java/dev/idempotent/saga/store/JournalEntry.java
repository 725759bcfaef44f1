package dev.idempotent.saga.store;

import java.util.Set;

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
 * @param call what is known of the call of the action or undo in this state, whose
 * outcome is unknown, or {@code null}
 */
@SuppressWarnings("ArrayRecordComponent")
public record JournalEntry(String name, int number, StepKind kind, StepState state, byte @Nullable [] result,
		@Nullable String reason, int refusedUndos, @Nullable RecordedCall call) {

	private static final Set<String> WITHOUT_UNDO = Set.of(StepKind.TRANSACTION.name(), StepKind.CALL.name(),
			StepKind.SIGNAL.name(), StepKind.SLEEP.name(), StepKind.VERSION.name());

	private static final Set<String> UNDONE = Set.of(StepState.COMPENSATED.name(), StepState.SKIPPED.name());

	/**
	 * Returns what is known of the call, as it is stored.
	 * @return the text, or {@code null}
	 */
	public @Nullable String storedCall() {
		return (this.call != null) ? this.call.text() : null;
	}

	/**
	 * Whether the action was done.
	 * @return whether it has a result
	 */
	public boolean isDone() {
		return this.result != null;
	}

	/**
	 * Whether the action was refused.
	 * @return whether it has a reason
	 */
	public boolean isRefused() {
		return this.reason != null;
	}

	/**
	 * Whether the outcome of the action is unknown.
	 * @return whether it has neither a result nor a reason
	 */
	public boolean isUnknown() {
		return this.result == null && this.reason == null;
	}

	/**
	 * Whether it must be undone before the saga is compensated.
	 * @return whether it must be undone
	 */
	public boolean isToUndo() {
		return isToUndo(this.kind.name(), this.state.name(), isRefused());
	}

	/**
	 * Whether a step must be undone, also if a later version of the application has
	 * recorded it.
	 * @param kind the name of its kind
	 * @param state the name of its state
	 * @param refused whether its action was refused
	 * @return whether it must be undone
	 */
	public static boolean isToUndo(String kind, String state, boolean refused) {
		return !WITHOUT_UNDO.contains(kind) && !UNDONE.contains(state)
				&& (!refused || kind.equals(StepKind.CANCELLED_CALL.name()));
	}

	/**
	 * Returns the entry of a step whose action was done.
	 * @param stored the result as it is stored
	 * @return the entry
	 */
	public JournalEntry done(byte[] stored) {
		return new JournalEntry(this.name, this.number, this.kind, StepState.DONE, stored, null, this.refusedUndos,
				null);
	}

	/**
	 * Returns the entry of a step whose action was refused.
	 * @param because why
	 * @return the entry
	 */
	public JournalEntry refused(String because) {
		return new JournalEntry(this.name, this.number, this.kind, StepState.REFUSED, null, because, this.refusedUndos,
				null);
	}

	/**
	 * Returns the entry in a state. What is known of a call belongs to its state.
	 * @param next the state
	 * @return the entry
	 */
	public JournalEntry in(StepState next) {
		return new JournalEntry(this.name, this.number, this.kind, next, this.result, this.reason, this.refusedUndos,
				(next == this.state) ? this.call : null);
	}

	/**
	 * Returns the entry with what is known of a call whose outcome is unknown.
	 * @param made what is known, or {@code null}
	 * @return the entry
	 */
	public JournalEntry called(@Nullable RecordedCall made) {
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
	 * @return the entry
	 */
	public JournalEntry undoRefused() {
		StepState before = isDone() ? StepState.DONE : isRefused() ? StepState.REFUSED : StepState.ACTING;
		return new JournalEntry(this.name, this.number, this.kind, before, this.result, this.reason,
				this.refusedUndos + 1, null);
	}

}
