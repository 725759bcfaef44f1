package dev.idempotent.saga.model;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Sender;
import dev.idempotent.saga.model.State.Sending;
import dev.idempotent.saga.model.State.Signal;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;
import dev.idempotent.saga.model.State.Wait;
import dev.idempotent.saga.model.State.Waiting;

/**
 * Senders of signals, each in a transaction of its own: a sender reads the row of the
 * saga, locks the row of the signal, keeps both rows locked if it makes the saga due, and
 * commits or rolls back.
 */
final class Signals {

	private static final int MOST = 3;

	private final Scenario scenario;

	Signals(Scenario scenario) {
		this.scenario = scenario;
	}

	void initial(State state) {
		state.set(Waiting.SIGNALS, this.scenario.has(Option.SIGNALS) ? MOST : 0);
	}

	State ofEarlierSaga(State state) {
		for (int step = 0; step < this.scenario.steps().size(); step++) {
			if (this.scenario.kind(step) == StepKind.SIGNAL) {
				state.set(Wait.ROW, step, Signal.RECEIVED).set(Wait.EARLIER, step, 1);
			}
		}
		return state;
	}

	/**
	 * Whether a transaction has locked the row of the signal.
	 */
	static boolean locked(Scenario scenario, State state, int step) {
		boolean locked = false;
		for (int sender = 0; sender < State.SENDERS; sender++) {
			locked |= state.is(Sender.AT, sender, Sending.HOLDS) && state.get(Sender.STEP, sender) == step;
		}
		for (int owner = 0; owner < State.OWNERS && !scenario.has(Defect.SIGNAL_ROW_NOT_LOCKED); owner++) {
			boolean ends = state.is(Owner.AT, owner, At.LOOKED) || state.is(Owner.AT, owner, At.FOUND);
			locked |= ends && state.get(Owner.STEP, owner) == step;
		}
		return locked;
	}

	/**
	 * Whether a sender has locked the row of the saga.
	 */
	static boolean lockSaga(State state) {
		return state.get(Sender.WAKES, 0) == 1 || state.get(Sender.WAKES, 1) == 1;
	}

	void send(State state, Successors to) {
		for (int sender = 0; this.scenario.has(Option.SIGNALS) && sender < State.SENDERS; sender++) {
			switch (Sending.OF[state.get(Sender.AT, sender)]) {
				case IDLE -> begin(state, sender, to);
				case READ -> write(state, sender, to);
				case HOLDS -> end(state, sender, to);
			}
		}
	}

	private void begin(State state, int sender, Successors to) {
		int left = state.get(Waiting.SIGNALS);
		for (int step = 0; left > 0 && step < this.scenario.steps().size(); step++) {
			if (this.scenario.kind(step) == StepKind.SIGNAL) {
				State next = state.copy().set(Waiting.SIGNALS, left - 1);
				if (isLate(state)) {
					to.add(Event.SIGNAL_SENT_TOO_LATE, Successors.NONE, step, next);
				}
				else {
					next.set(Sender.AT, sender, Sending.READ).set(Sender.STEP, sender, step);
					to.add(Event.SIGNAL_SENT, Successors.NONE, step,
							next.set(Sender.FOUND_SAGA, sender, state.is(Row.STATUS, Status.ABSENT) ? 0 : 1));
				}
			}
		}
	}

	private static boolean isLate(State state) {
		return switch (state.status()) {
			case ABSENT -> false;
			case EXECUTING -> state.get(Row.DEADLINE) == 1;
			case HALTED -> !state.is(Row.HALTED_IN, Status.EXECUTING);
			case COMPENSATING, COMPLETED, COMPENSATED -> true;
		};
	}

	private void write(State state, int sender, Successors to) {
		int step = state.get(Sender.STEP, sender);
		if (locked(this.scenario, state, step)) {
			return;
		}
		boolean comparable = state.get(Wait.EARLIER, step) == 0 || state.get(Sender.FOUND_SAGA, sender) == 0;
		boolean sent = comparable
				&& (state.is(Wait.ROW, step, Signal.RECEIVED) || state.is(Wait.ROW, step, Signal.READ));
		State next = state.copy();
		if (sent && !this.scenario.has(Defect.LAST_SIGNAL_COUNTS)) {
			tell(next, state.get(Wait.ACCEPTED, step) == state.get(Wait.VALUE, step) + 1);
			to.add(Event.SIGNAL_KNOWN, Successors.NONE, step, idle(next, sender));
		}
		else if (comparable && state.is(Wait.ROW, step, Signal.EXPIRED)) {
			tell(next, state.is(Step.JOURNAL, step, Journal.REFUSED));
			to.add(Event.SIGNAL_KNOWN, Successors.NONE, step, idle(next, sender));
		}
		else {
			boolean wakes = state.is(Wait.ROW, step, Signal.AWAITED) && state.get(Waiting.FOR) == step + 1
					&& !this.scenario.has(Defect.SIGNAL_DOES_NOT_WAKE);
			to.add(Event.SIGNAL_WRITTEN, Successors.NONE, step,
					next.set(Sender.AT, sender, Sending.HOLDS).set(Sender.WAKES, sender, wakes ? 1 : 0));
		}
	}

	private void end(State state, int sender, Successors to) {
		int step = state.get(Sender.STEP, sender);
		to.add(Event.SIGNAL_ROLLED_BACK, Successors.NONE, step, idle(state.copy(), sender));
		State next = state.copy();
		if (state.get(Sender.WAKES, sender) == 1) {
			next.set(Waiting.FOR, 0);
		}
		if (!this.scenario.has(Defect.SIGNAL_NOT_STORED)) {
			next.set(Wait.ROW, step, Signal.RECEIVED).set(Wait.VALUE, step, sender).set(Wait.EARLIER, step, 0);
		}
		boolean first = state.get(Wait.ACCEPTED, step) == 0;
		next.set(Wait.ACCEPTED, step, first ? sender + 1 : State.SENDERS + 1);
		to.add(Event.SIGNAL_COMMITTED, Successors.NONE, step, idle(next, sender));
	}

	private static void tell(State next, boolean isTrue) {
		if (!isTrue) {
			next.set(Waiting.FALSE_ANSWER, 1);
		}
	}

	private static State idle(State next, int sender) {
		return next.set(Sender.AT, sender, Sending.IDLE)
			.set(Sender.STEP, sender, 0)
			.set(Sender.FOUND_SAGA, sender, 0)
			.set(Sender.WAKES, sender, 0);
	}

}
