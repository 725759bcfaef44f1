package dev.idempotent.saga.model;

import dev.idempotent.saga.model.Fence.Needs;
import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Outcome;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Signal;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;
import dev.idempotent.saga.model.State.Wait;
import dev.idempotent.saga.model.State.Waiting;

/**
 * An owner whose body waits: it records the beginning, then looks for the signal and
 * either records the outcome or releases the saga, in one transaction that keeps the row
 * of the signal locked.
 */
final class Waits {

	private final Scenario scenario;

	private final Fence fence;

	private final Forward forward;

	Waits(Scenario scenario, Fence fence, Forward forward) {
		this.scenario = scenario;
		this.fence = fence;
		this.forward = forward;
	}

	void run(State state, int owner, int step, Successors to) {
		if (state.view(owner, step) == Journal.ACTING) {
			look(state, owner, step, to);
			return;
		}
		Journal journal = state.journal(step);
		boolean expected = journal == Journal.ABSENT || journal == Journal.ACTING;
		if (this.fence.rereads(state, owner, Needs.BEFORE_DEADLINE, expected, to)) {
			return;
		}
		this.fence.write(state, owner, Event.BEGINS_WAIT, Needs.BEFORE_DEADLINE, to,
				(next) -> next.set(Step.JOURNAL, step, Journal.ACTING).view(owner, step, Journal.ACTING));
	}

	private void look(State state, int owner, int step, Successors to) {
		boolean signal = this.scenario.kind(step) == StepKind.SIGNAL;
		boolean waits = signal && Signals.locked(this.scenario, state, step);
		boolean uncommitted = waits && this.scenario.has(Defect.UNCOMMITTED_SIGNAL_READ);
		if (waits && !uncommitted && !this.scenario.has(Defect.SIGNAL_ROW_NOT_LOCKED)) {
			return;
		}
		boolean own = state.get(Wait.EARLIER, step) == 0 || this.scenario.has(Defect.SIGNAL_OF_EARLIER_SAGA_COUNTS);
		boolean found = signal && (uncommitted || (state.is(Wait.ROW, step, Signal.RECEIVED) && own));
		boolean blind = this.scenario.has(Defect.RELEASED_WITHOUT_LOOKING) && state.get(Wait.TIME, step) == 0;
		blind |= this.scenario.has(Defect.EXPIRED_WITHOUT_LOOKING) && state.get(Wait.TIME, step) == 1;
		to.add(Event.LOOKS_FOR_SIGNAL, owner, step,
				state.copy().set(Owner.AT, owner, (found && !blind) ? At.FOUND : At.LOOKED));
	}

	/**
	 * At {@link At#LOOKED} and {@link At#FOUND}.
	 */
	void end(State state, int owner, Successors to) {
		int step = state.get(Owner.STEP, owner);
		if (!this.fence.passes(state, owner, Needs.BEFORE_DEADLINE)) {
			to.add(Event.FENCED, owner, step, state.copy().clear(owner));
			return;
		}
		State next = state.copy();
		if (state.is(Owner.AT, owner, At.FOUND)) {
			record(next, owner, step, Journal.DONE, Signal.READ, Event.RECEIVES_SIGNAL, to);
		}
		else if (state.get(Wait.TIME, step) == 1) {
			boolean signal = this.scenario.kind(step) == StepKind.SIGNAL;
			boolean kept = this.scenario.has(Defect.SIGNAL_ACCEPTED_AFTER_EXPIRY);
			Signal row = (signal && !kept) ? Signal.EXPIRED : Signal.OF[state.get(Wait.ROW, step)];
			record(next, owner, step, signal ? Journal.REFUSED : Journal.DONE, row, Event.WAIT_EXPIRES, to);
		}
		else {
			if (this.scenario.kind(step) == StepKind.SIGNAL) {
				next.set(Wait.ROW, step, Signal.AWAITED).set(Wait.EARLIER, step, 0);
			}
			next.set(Waiting.FOR, step + 1).clear(owner);
			to.add(Event.RELEASED_UNTIL_DUE, owner, step, next);
			replyLost(next, owner, step, to);
		}
	}

	private void record(State next, int owner, int step, Journal outcome, Signal row, Event event, Successors to) {
		next.set(Wait.ROW, step, row).set(Wait.EARLIER, step, 0).view(owner, step, outcome);
		if (event != Event.WAIT_EXPIRES || !this.scenario.has(Defect.EXPIRY_NOT_RECORDED)) {
			next.set(Step.JOURNAL, step, outcome);
		}
		else {
			next.set(Wait.ROW, step, Signal.AWAITED);
		}
		replyLost(next, owner, step, to);
		this.forward.advance(next, owner, step + 1);
		to.add(event, owner, step, next);
	}

	/**
	 * The owner releases the saga, so that it is due. That may fail, too.
	 */
	private static void replyLost(State committed, int owner, int step, Successors to) {
		int faults = committed.get(Row.FAULTS);
		if (faults > 0) {
			State next = committed.copy().set(Row.FAULTS, faults - 1).clear(owner);
			to.add(Event.END_OF_WAIT_REPLY_LOST, owner, step, next);
			to.add(Event.END_OF_WAIT_REPLY_LOST, owner, step, next.copy().set(Waiting.FOR, 0));
		}
	}

	/**
	 * Notes what the body has got of each wait that it has passed.
	 */
	void noteOutcomes(State next, int owner) {
		for (int step = 0; step < this.scenario.steps().size(); step++) {
			if (this.scenario.kind(step).isWait()) {
				Outcome got = switch (next.view(owner, step)) {
					case DONE -> Outcome.RECEIVED;
					case REFUSED -> Outcome.EXPIRED;
					default -> Outcome.NONE;
				};
				if (got != Outcome.NONE && !next.is(Wait.OUTCOME, step, got)) {
					next.set(Wait.OUTCOME, step, next.is(Wait.OUTCOME, step, Outcome.NONE) ? got : Outcome.DIFFERENT);
				}
			}
		}
	}

}
