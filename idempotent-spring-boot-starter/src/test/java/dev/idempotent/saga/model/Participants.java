package dev.idempotent.saga.model;

import java.util.function.BiConsumer;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Step;

/**
 * The services that steps call. Effect and record are one commit; a cancel follows the
 * table of the tombstone.
 */
final class Participants {

	/** What a reply says. */
	enum Reply {

		DONE, REFUSED, REFUSED_REPLAYED, UNKNOWN

	}

	/** The records under an action's key. */
	enum Stored {

		ABSENT, DONE, REFUSED, TOMBSTONE;

		static final Stored[] OF = values();

	}

	private final Scenario scenario;

	Participants(Scenario scenario) {
		this.scenario = scenario;
	}

	void act(State state, int step, int scope, BiConsumer<State, Reply> to) {
		Step field = (scope == 0) ? Step.ACTION_RECORD : Step.OTHER_ACTION_RECORD;
		Stored stored = Stored.OF[state.get(field, step)];
		if (stored == Stored.ABSENT || this.scenario.has(Defect.NO_KEYS)) {
			to.accept(state.copy().add(Step.DONE, step).set(field, step, Stored.DONE), Reply.DONE);
			refuse(state, step, field, to);
			if (this.scenario.has(Defect.LEASE_ACTION)) {
				to.accept(state.copy().add(Step.DONE, step), Reply.UNKNOWN);
			}
		}
		else {
			to.accept(state.copy(), (stored == Stored.DONE) ? Reply.DONE : Reply.REFUSED_REPLAYED);
		}
	}

	private void refuse(State state, int step, Step field, BiConsumer<State, Reply> to) {
		if (this.scenario.has(Option.STORED_REFUSALS)) {
			to.accept(state.copy().set(field, step, Stored.REFUSED), Reply.REFUSED);
		}
		if (this.scenario.has(Option.UNSTORED_REFUSALS)) {
			to.accept(state.copy(), Reply.REFUSED);
		}
	}

	void undo(State state, int step, int scope, boolean done, BiConsumer<State, Reply> to) {
		Step record = (scope == 0) ? Step.UNDO_RECORD : Step.OTHER_UNDO_RECORD;
		if (state.get(record, step) == 1 && !this.scenario.has(Defect.NO_KEYS)) {
			to.accept(state.copy(), Reply.DONE);
			return;
		}
		State next = state.copy().set(record, step, 1);
		boolean runs = this.scenario.kind(step) == StepKind.COMPENSATE || cancels(next, step, scope);
		if (runs) {
			undone(next, step);
		}
		else if (done) {
			to.accept(next.set(record, step, 0), Reply.REFUSED);
			return;
		}
		to.accept(next, Reply.DONE);
		if (runs && this.scenario.has(Option.REFUSED_UNDO)) {
			to.accept(state.copy(), Reply.REFUSED);
		}
	}

	/** Claims the action's key and returns whether the cancel handler runs. */
	private boolean cancels(State next, int step, int scope) {
		Step field = (scope == 0) ? Step.ACTION_RECORD : Step.OTHER_ACTION_RECORD;
		Stored stored = Stored.OF[next.get(field, step)];
		if (stored == Stored.ABSENT && !this.scenario.has(Defect.NO_TOMBSTONE)) {
			next.set(field, step, Stored.TOMBSTONE);
		}
		return stored == Stored.DONE;
	}

	/** Counts an undo, and notes one before the undo of a later step. */
	void undone(State next, int step) {
		next.add(Step.UNDONE, step);
		for (int later = step + 1; later < this.scenario.steps().size(); later++) {
			boolean undoable = this.scenario.kind(later) != StepKind.PLAIN;
			if (undoable && next.get(Step.DONE, later) != next.get(Step.UNDONE, later)) {
				next.set(Row.DISORDER, 1);
			}
		}
	}

}
