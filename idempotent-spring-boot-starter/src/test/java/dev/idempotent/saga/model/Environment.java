package dev.idempotent.saga.model;

import dev.idempotent.saga.model.Participants.Stored;
import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Cause;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;
import dev.idempotent.saga.model.State.Wait;
import dev.idempotent.saga.model.State.Waiting;

/**
 * Take-over, deaths, clocks and operators.
 */
final class Environment {

	private final Scenario scenario;

	Environment(Scenario scenario) {
		this.scenario = scenario;
	}

	/**
	 * A saga that has ended is deleted, and its key begins another one. That one has
	 * nothing to do with the first, unless it has the same keys or epochs.
	 */
	void sweep(State state, Successors to) {
		boolean ended = state.is(Row.STATUS, Status.COMPLETED) || state.is(Row.STATUS, Status.COMPENSATED);
		boolean sameKeys = this.scenario.has(Defect.KEYS_REUSED_AFTER_SWEEP);
		boolean sameEpochs = this.scenario.has(Defect.EPOCHS_REUSED_AFTER_SWEEP);
		int faults = state.get(Row.FAULTS);
		if (!ended || faults == 0 || (!sameKeys && !sameEpochs)) {
			return;
		}
		State next = new State().set(Row.FAULTS, faults - 1).set(Row.STATUS, Status.EXECUTING);
		for (int step = 0; sameKeys && step < this.scenario.steps().size(); step++) {
			next.set(Step.ACTION_RECORD, step, state.get(Step.ACTION_RECORD, step));
			next.set(Step.UNDO_RECORD, step, state.get(Step.UNDO_RECORD, step));
		}
		for (int owner = 0; sameEpochs && owner < State.OWNERS; owner++) {
			boolean paused = !state.is(Owner.AT, owner, At.IDLE);
			next.owner(owner, state).set(Owner.CURRENT, owner, paused ? 1 : 0);
		}
		to.add(Event.SWEPT, Successors.NONE, Successors.NONE, next);
	}

	/**
	 * An idle owner takes over what has no owner, or one that pauses beyond its lease.
	 */
	void takeOver(State state, int owner, Successors to) {
		int faults = state.get(Row.FAULTS);
		if (state.is(Row.STATUS, Status.ABSENT)) {
			if (this.scenario.has(Option.SECOND_CALLER) && faults > 0 && !state.is(Owner.AT, 1 - owner, At.IDLE)) {
				to.add(Event.SECOND_CALLER_BEGINS, owner, 0, begin(state.copy(), owner).set(Row.FAULTS, faults - 1));
			}
			return;
		}
		boolean open = state.is(Row.STATUS, Status.EXECUTING) || state.is(Row.STATUS, Status.COMPENSATING);
		boolean owned = state.get(Owner.CURRENT, 1 - owner) == 1;
		if (!open || (owned && faults == 0) || waits(state) || Signals.lockSaga(state)
				|| this.scenario.has(Defect.NO_TAKE_OVER)) {
			return;
		}
		State next = state.copy().set(Waiting.FOR, 0);
		if (owned) {
			next.set(Row.FAULTS, faults - 1);
		}
		Event event = owned ? Event.TAKES_OVER_FROM_PAUSED : Event.TAKES_OVER;
		if (this.scenario.has(Defect.JOURNAL_READ_BEFORE_EPOCH)) {
			copyJournal(next, owner);
			to.add(event, owner, Successors.NONE, next.set(Owner.AT, owner, At.PEEKED));
		}
		else {
			to.add(event, owner, Successors.NONE, raiseEpoch(next, owner).set(Owner.AT, owner, At.READ));
		}
	}

	/**
	 * A saga that waits is due when the time of the wait or its deadline has passed.
	 */
	private static boolean waits(State state) {
		int step = state.get(Waiting.FOR) - 1;
		boolean late = state.get(Row.DEADLINE) == 1 && state.get(Waiting.CANCELLED) == 0;
		return step >= 0 && state.get(Wait.TIME, step) == 0 && !late;
	}

	/**
	 * Cancels what has neither ended nor been undone. The caller is told that it will be
	 * undone, or is already.
	 */
	void cancel(State state, Successors to) {
		if (!this.scenario.has(Option.CANCELS) || state.get(Waiting.CANCELLED) == 1 || Signals.lockSaga(state)) {
			return;
		}
		State next = state.copy().set(Waiting.CANCELLED, 1);
		switch (state.status()) {
			case EXECUTING -> next.set(Row.DEADLINE, this.scenario.has(Defect.CANCEL_KEEPS_DEADLINE) ? 0 : 1)
				.set(Waiting.FOR, this.scenario.has(Defect.CANCEL_DOES_NOT_WAKE) ? state.get(Waiting.FOR) : 0);
			case HALTED -> {
				if (!state.is(Row.HALTED_IN, Status.EXECUTING)) {
					return;
				}
				next.set(Row.STATUS, Status.COMPENSATING).set(Row.CAUSE, Cause.NONE);
				next.set(Owner.CURRENT, 0, 0).set(Owner.CURRENT, 1, 0);
			}
			case COMPENSATING -> {
			}
			case COMPLETED -> {
				if (!this.scenario.has(Defect.CANCEL_UNDOES_COMPLETED)) {
					return;
				}
				next.set(Row.STATUS, Status.COMPENSATING);
			}
			case ABSENT, COMPENSATED -> {
				return;
			}
		}
		to.add(Event.CANCELS, Successors.NONE, Successors.NONE, next);
	}

	static State begin(State next, int owner) {
		return next.set(Owner.AT, owner, At.RUN).set(Owner.FRESH, owner, 1).set(Owner.CURRENT, owner, 1);
	}

	static State raiseEpoch(State next, int owner) {
		return next.set(Owner.CURRENT, owner, 1).set(Owner.CURRENT, 1 - owner, 0);
	}

	void copyJournal(State next, int owner) {
		next.set(Owner.UNWRITTEN, owner, 0);
		for (int step = 0; step < this.scenario.steps().size(); step++) {
			next.view(owner, step, next.journal(step));
		}
	}

	/** A dead run that is not current equals one that pauses for ever. */
	void dies(State state, int owner, Successors to) {
		int faults = state.get(Row.FAULTS);
		boolean current = state.get(Owner.CURRENT, owner) == 1 && state.get(Owner.FRESH, owner) == 0;
		if (faults > 0 && current) {
			State next = Calls.late(state.copy(), owner).clear(owner).set(Row.FAULTS, faults - 1);
			to.add(Event.DIES, owner, Successors.NONE, next);
		}
	}

	void clocks(State state, Successors to) {
		if (!state.is(Row.STATUS, Status.EXECUTING) && !state.is(Row.STATUS, Status.COMPENSATING)
				&& !state.is(Row.STATUS, Status.HALTED)) {
			return;
		}
		if (this.scenario.has(Option.DEADLINE) && state.get(Row.DEADLINE) == 0
				&& state.is(Row.STATUS, Status.EXECUTING)) {
			to.add(Event.DEADLINE_PASSES, Successors.NONE, Successors.NONE, state.copy().set(Row.DEADLINE, 1));
		}
		for (int step = 0; state.is(Row.STATUS, Status.EXECUTING) && step < this.scenario.steps().size(); step++) {
			boolean waiting = this.scenario.kind(step).isWait() && state.is(Step.JOURNAL, step, Journal.ACTING);
			if (waiting && state.get(Wait.TIME, step) == 0) {
				to.add(Event.TIME_OF_WAIT_PASSES, Successors.NONE, step, state.copy().set(Wait.TIME, step, 1));
			}
		}
		for (int step = 0; this.scenario.has(Option.AGE) && step < this.scenario.steps().size(); step++) {
			if (this.scenario.kind(step).isRemote() && !state.is(Step.JOURNAL, step, Journal.ABSENT)) {
				age(state, step, Step.ACTION_OLD, Event.ACTION_TOO_OLD, to);
				expire(state, step, to);
			}
			if (state.journal(step).isUndoing() && state.get(Step.ACTION_OLD, step) == 1) {
				age(state, step, Step.UNDO_OLD, Event.UNDO_TOO_OLD, to);
			}
		}
	}

	private static void age(State state, int step, Step field, Event event, Successors to) {
		if (state.get(field, step) == 0) {
			to.add(event, Successors.NONE, step, state.copy().set(field, step, 1));
		}
	}

	/**
	 * Participants keep records for longer than the coordinator repeats calls, by more
	 * than the longest delay of a message: none is under way any more.
	 */
	private void expire(State state, int step, Successors to) {
		if (underWay(state, step) && !this.scenario.has(Option.DELAYS_BEYOND_RETENTION)) {
			return;
		}
		if (state.get(Step.ACTION_OLD, step) == 1 && !state.is(Step.ACTION_RECORD, step, Stored.ABSENT)) {
			to.add(Event.ACTION_RECORD_EXPIRES, Successors.NONE, step,
					outlived(state.copy(), step).set(Step.ACTION_RECORD, step, Stored.ABSENT));
		}
		if (state.get(Step.UNDO_OLD, step) == 1 && state.get(Step.UNDO_RECORD, step) == 1) {
			to.add(Event.UNDO_RECORD_EXPIRES, Successors.NONE, step,
					outlived(state.copy(), step).set(Step.UNDO_RECORD, step, 0));
		}
	}

	private static boolean underWay(State state, int step) {
		boolean waiting = false;
		for (int owner = 0; owner < State.OWNERS; owner++) {
			boolean called = state.is(Owner.AT, owner, At.CALLED) || state.is(Owner.AT, owner, At.UNDO_CALLED);
			waiting |= called && state.get(Owner.STEP, owner) == step;
		}
		return waiting;
	}

	private State outlived(State next, int step) {
		return this.scenario.has(Option.DELAYS_BEYOND_RETENTION) ? next : arrived(next, step);
	}

	private static State arrived(State next, int step) {
		return next.set(Step.LATE_ACTIONS, step, 0).set(Step.LATE_UNDOS, step, 0).set(Step.LATE_CANCELS, step, 0);
	}

	void operator(State state, Successors to) {
		int faults = state.get(Row.FAULTS);
		if (!this.scenario.has(Option.OPERATOR) || faults == 0 || !state.is(Row.STATUS, Status.HALTED)) {
			return;
		}
		State next = state.copy().set(Row.FAULTS, faults - 1).set(Row.CAUSE, Cause.NONE);
		if (!this.scenario.has(Defect.OPERATOR_KEEPS_EPOCH)) {
			next.set(Owner.CURRENT, 0, 0).set(Owner.CURRENT, 1, 0);
		}
		to.add(Event.OPERATOR_RETRIES, Successors.NONE, Successors.NONE,
				next.copy().set(Row.STATUS, state.get(Row.HALTED_IN)));
		int step = this.scenario.steps().size() - 1;
		while (step >= 0 && !unresolved(state, step)) {
			step--;
		}
		if (step >= 0 && skippable(state, step)) {
			to.add(Event.OPERATOR_SKIPS, Successors.NONE, step, skipped(next, step));
		}
	}

	private boolean unresolved(State state, int step) {
		Journal journal = state.journal(step);
		boolean refused = journal == Journal.REFUSED && this.scenario.kind(step) == StepKind.CANCEL;
		return !this.scenario.kind(step).isWait() && (journal == Journal.ACTING || journal.isUndoing() || refused);
	}

	/** What may still arrive could undo what a person has put right. */
	private boolean skippable(State state, int step) {
		boolean undoing = state.journal(step).isUndoing();
		boolean old = state.get(undoing ? Step.UNDO_OLD : Step.ACTION_OLD, step) == 1;
		return this.scenario.has(Defect.SKIPPED_BEFORE_AGE) || (old && !underWay(state, step));
	}

	private State skipped(State next, int step) {
		if (!this.scenario.has(Defect.SKIPPED_BEFORE_AGE)) {
			arrived(next, step);
		}
		next.set(Step.UNDONE, step, next.get(Step.DONE, step)).set(Step.JOURNAL, step, Journal.UNDONE);
		boolean forward = this.scenario.has(Defect.SKIPPED_STEP_GOES_FORWARD);
		return forward ? next.set(Row.STATUS, next.get(Row.HALTED_IN)) : next.set(Row.STATUS, Status.COMPENSATING);
	}

}
