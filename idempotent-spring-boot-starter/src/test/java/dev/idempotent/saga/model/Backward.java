package dev.idempotent.saga.model;

import dev.idempotent.saga.model.Fence.Needs;
import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Cause;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;

/**
 * An owner that compensates, in reverse order.
 */
final class Backward {

	private final Scenario scenario;

	private final Fence fence;

	private final Forward forward;

	private final Participants participants;

	Backward(Scenario scenario, Fence fence, Forward forward, Participants participants) {
		this.scenario = scenario;
		this.fence = fence;
		this.forward = forward;
		this.participants = participants;
	}

	void decide(State state, int owner, Successors to) {
		this.fence.write(state, owner, Event.DECIDES_TO_COMPENSATE, Needs.EXECUTING, to, (next) -> {
			next.set(Row.STATUS, Status.COMPENSATING).set(Owner.BACKWARD, owner, 1);
			retreat(next, owner, this.scenario.steps().size());
		});
	}

	void halt(State state, int owner, Successors to) {
		boolean backward = state.get(Owner.BACKWARD, owner) == 1;
		this.fence.write(state, owner, Event.HALTS, backward ? Needs.COMPENSATING : Needs.EXECUTING, to,
				(next) -> next.set(Row.HALTED_IN, next.get(Row.STATUS))
					.set(Row.STATUS, Status.HALTED)
					.set(Row.CAUSE, next.get(Owner.CAUSE, owner))
					.clear(owner));
	}

	/**
	 * At {@link At#BACK} the owner's step counts those that may still have to be undone.
	 */
	void back(State state, int owner, Successors to) {
		int step = state.get(Owner.STEP, owner) - 1;
		if (step < 0) {
			this.fence.write(state, owner, Event.ENDS_COMPENSATED, Needs.COMPENSATING, to,
					(next) -> next.set(Row.STATUS, Status.COMPENSATED).set(Row.COMPENSATED, 1).clear(owner));
			return;
		}
		Journal view = state.view(owner, step);
		boolean acting = view == Journal.ACTING;
		if (this.scenario.kind(step) == StepKind.TRANSACTION) {
			transaction(state, owner, step, to);
		}
		else if (acting && this.scenario.kind(step) == StepKind.COMPENSATE) {
			this.forward.again(state, owner, step, to);
		}
		else if (tooOld(state, step, view)) {
			to.add(Event.TOO_OLD, owner, step, halting(state.copy(), owner, Cause.AGE));
		}
		else if (view.isUndoing()) {
			to.add(Event.CALLS_UNDO_AGAIN, owner, step, calling(state.copy(), owner, step));
		}
		else {
			mark(state, owner, step, to);
		}
	}

	private void transaction(State state, int owner, int step, Successors to) {
		boolean expected = state.is(Step.JOURNAL, step, Journal.DONE) || this.scenario.has(Defect.UNDO_ROW_NOT_CHECKED);
		if (this.fence.rereads(state, owner, Needs.COMPENSATING, expected, to)) {
			return;
		}
		this.fence.write(state, owner, Event.COMMITS_UNDO, Needs.COMPENSATING, to, (next) -> {
			this.participants.undone(next, step);
			next.set(Step.JOURNAL, step, Journal.UNDONE).view(owner, step, Journal.UNDONE);
			retreat(next, owner, step);
		});
	}

	private void mark(State state, int owner, int step, Successors to) {
		Journal marked = marked(state.view(owner, step));
		this.fence.write(state, owner, Event.WRITES_COMPENSATING, Needs.COMPENSATING, to, (next) -> {
			boolean forgotten = this.scenario.has(Defect.OUTCOME_FORGOTTEN) && marked == Journal.UNDOING_DONE;
			boolean early = this.scenario.has(Defect.COMPENSATED_BEFORE_UNDO);
			Journal row = early ? Journal.UNDONE : forgotten ? Journal.UNDOING_UNKNOWN : marked;
			calling(next.set(Step.JOURNAL, step, row).view(owner, step, marked), owner, step);
		});
	}

	private static Journal marked(Journal view) {
		return (view == Journal.DONE) ? Journal.UNDOING_DONE : Journal.UNDOING_UNKNOWN;
	}

	/**
	 * A cancel of unknown outcome relies on the action's record, a repeated undo on its
	 * own.
	 */
	private boolean tooOld(State state, int step, Journal view) {
		boolean again = view.isUndoing();
		boolean unknown = view != Journal.DONE && view != Journal.UNDOING_DONE;
		boolean unlimited = again
				? this.scenario.has(Defect.CANCEL_REPEATED_BEYOND_ACTION_AGE)
						|| this.scenario.has(Defect.OUTCOME_FORGOTTEN)
				: this.scenario.has(Defect.ACTION_AGE_IGNORED)
						|| (view == Journal.REFUSED && this.scenario.has(Defect.REFUSED_ACTION_AGE_IGNORED));
		boolean action = unknown && state.get(Step.ACTION_OLD, step) == 1 && !unlimited;
		boolean undo = again && state.get(Step.UNDO_OLD, step) == 1 && !this.scenario.has(Defect.UNDO_AGE_IGNORED);
		return action || undo;
	}

	private static State calling(State next, int owner, int step) {
		return next.set(Owner.AT, owner, At.UNDO_CALLED).set(Owner.STEP, owner, step);
	}

	static State halting(State next, int owner, Cause cause) {
		return next.set(Owner.AT, owner, At.HALT).set(Owner.CAUSE, owner, cause);
	}

	/** Goes back to the last step before the given one that has something to undo. */
	void retreat(State next, int owner, int before) {
		int remaining = before;
		while (remaining > 0 && !undoable(this.scenario.kind(remaining - 1), next.view(owner, remaining - 1))) {
			remaining--;
		}
		next.set(Owner.AT, owner, At.BACK).set(Owner.STEP, owner, remaining);
	}

	private boolean undoable(StepKind kind, Journal view) {
		if (view == Journal.ACTING) {
			boolean forgotten = this.scenario.has(Defect.UNKNOWN_TAKEN_FOR_NOT_DONE)
					|| (kind == StepKind.CANCEL && this.scenario.has(Defect.UNDO_REGISTERED_AFTER_ACTION));
			return kind.hasUndoCall() && !forgotten;
		}
		boolean refused = view == Journal.REFUSED && kind == StepKind.CANCEL;
		return kind != StepKind.PLAIN && !kind.isWait() && (view == Journal.DONE || view.isUndoing() || refused);
	}

}
