package dev.idempotent.saga.model;

import java.util.function.Consumer;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;
import dev.idempotent.saga.model.State.Waiting;

/**
 * Writes to the journal: first the saga's row by epoch and status, then the step's, in
 * one commit whose reply may be lost.
 */
final class Fence {

	/** What a write requires of the saga's row. */
	enum Needs {

		BEFORE_DEADLINE, EXECUTING, COMPENSATING

	}

	private final Scenario scenario;

	Fence(Scenario scenario) {
		this.scenario = scenario;
	}

	void write(State state, int owner, Event event, Needs needs, Successors to, Consumer<State> change) {
		int step = state.get(Owner.STEP, owner);
		if (!passes(state, owner, needs)) {
			to.add(Event.FENCED, owner, step, state.copy().clear(owner));
			return;
		}
		State next = state.copy().set(Owner.IN_DOUBT, owner, 0);
		if (state.get(Owner.FRESH, owner) == 1) {
			next.set(Row.STATUS, Status.EXECUTING).set(Owner.FRESH, owner, 0).set(Owner.CURRENT, owner, 1);
		}
		flush(next, owner);
		change.accept(next);
		to.add(event, owner, step, next);
		int faults = state.get(Row.FAULTS);
		if (faults > 0) {
			State repeated = next.copy().owner(owner, state).set(Row.FAULTS, faults - 1).set(Owner.IN_DOUBT, owner, 1);
			to.add(Event.COMMIT_REPLY_LOST, owner, step, repeated);
		}
	}

	/** Reads the journal again where it has another row than the owner expects. */
	boolean rereads(State state, int owner, Needs needs, boolean expected, Successors to) {
		if (expected || !passes(state, owner, needs)) {
			return false;
		}
		State next = state.copy().set(Owner.AT, owner, At.READ).set(Owner.IN_DOUBT, owner, 0);
		to.add(Event.REREAD, owner, state.get(Owner.STEP, owner), next);
		return true;
	}

	/** A write whose reply is lost is repeated before the owner goes on. */
	boolean mayLeave(State state, int owner) {
		return state.get(Owner.IN_DOUBT, owner) == 0 || this.scenario.has(Defect.DECIDED_IN_DOUBT);
	}

	boolean passes(State state, int owner, Needs needs) {
		if (state.get(Owner.FRESH, owner) == 1) {
			boolean own = this.scenario.has(Defect.OWNER_PER_PROCESS) && state.is(Row.STATUS, Status.EXECUTING);
			return own || state.is(Row.STATUS, Status.ABSENT);
		}
		if (this.scenario.has(Defect.NO_FENCE)) {
			return true;
		}
		Status status = (needs == Needs.COMPENSATING) ? Status.COMPENSATING : Status.EXECUTING;
		boolean current = state.get(Owner.CURRENT, owner) == 1 || this.scenario.has(Defect.NO_EPOCH_CHECK);
		boolean earlierClock = this.scenario.has(Defect.CANCEL_COMPARES_CLOCKS) && state.get(Waiting.CANCELLED) == 1;
		boolean inTime = needs != Needs.BEFORE_DEADLINE || state.get(Row.DEADLINE) == 0 || earlierClock;
		return current && inTime && state.is(Row.STATUS, status);
	}

	/** Writes the result of the call before, which had no commit of its own. */
	private static void flush(State next, int owner) {
		int unwritten = next.get(Owner.UNWRITTEN, owner) - 1;
		if (unwritten >= 0) {
			next.set(Step.JOURNAL, unwritten, next.view(owner, unwritten)).set(Owner.UNWRITTEN, owner, 0);
		}
	}

}
