package dev.idempotent.saga.model;

import java.util.List;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Cause;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;

/**
 * The protocol of a saga: which states follow a state.
 */
final class SagaModel {

	private final Scenario scenario;

	private final Environment environment;

	private final Forward forward;

	private final Backward backward;

	private final Calls calls;

	private final Signals signals;

	SagaModel(Scenario scenario) {
		this.scenario = scenario;
		Fence fence = new Fence(scenario);
		Participants participants = new Participants(scenario);
		this.environment = new Environment(scenario);
		this.signals = new Signals(scenario);
		this.forward = new Forward(scenario, fence);
		this.backward = new Backward(scenario, fence, this.forward, participants);
		this.calls = new Calls(scenario, participants, this.forward, this.backward);
	}

	/** A caller before its first step, or a started saga that no instance runs yet. */
	List<State> initial() {
		State state = new State().set(Row.FAULTS, this.scenario.faults());
		this.signals.initial(state);
		State called = Environment.begin(state.copy(), 0);
		State started = state.set(Row.STATUS, Status.EXECUTING);
		if (this.scenario.has(Option.SIGNAL_BETWEEN_SAGAS)) {
			return List.of(this.signals.ofEarlierSaga(called));
		}
		return this.scenario.has(Option.SIGNAL_OF_EARLIER_SAGA) ? List.of(this.signals.ofEarlierSaga(started))
				: List.of(called, started);
	}

	void successors(State state, Successors to) {
		for (int owner = 0; owner < State.OWNERS; owner++) {
			proceed(state, owner, to);
			this.environment.dies(state, owner, to);
		}
		for (int step = 0; step < this.scenario.steps().size(); step++) {
			this.calls.arrivals(state, step, to);
		}
		this.signals.send(state, to);
		this.environment.cancel(state, to);
		this.environment.clocks(state, to);
		this.environment.operator(state, to);
		this.environment.sweep(state, to);
	}

	private void proceed(State state, int owner, Successors to) {
		switch (state.at(owner)) {
			case IDLE -> this.environment.takeOver(state, owner, to);
			case READ -> read(state, owner, to);
			case PEEKED -> to.add(Event.RAISES_EPOCH, owner, Successors.NONE,
					enter(Environment.raiseEpoch(state.copy(), owner), owner));
			case RUN -> this.forward.run(state, owner, to);
			case CALLED -> this.calls.called(state, owner, to);
			case LOOKED, FOUND -> this.forward.waits().end(state, owner, to);
			case DECIDE -> this.backward.decide(state, owner, to);
			case BACK -> this.backward.back(state, owner, to);
			case UNDO_CALLED -> this.calls.undoCalled(state, owner, to);
			case HALT -> this.backward.halt(state, owner, to);
		}
	}

	private void read(State state, int owner, Successors to) {
		if (state.get(Owner.CURRENT, owner) == 0 && !this.scenario.has(Defect.STALE_OWNER_READS_JOURNAL)) {
			to.add(Event.FENCED, owner, Successors.NONE, state.copy().clear(owner));
			return;
		}
		doesNotFit(state, owner, to);
		State next = state.copy();
		this.environment.copyJournal(next, owner);
		to.add(Event.READS_JOURNAL, owner, Successors.NONE, enter(next, owner));
		boolean partial = this.scenario.has(Defect.UNREACHED_STEPS_NOT_UNDONE)
				&& state.is(Row.STATUS, Status.COMPENSATING);
		for (int reached = 0; partial && reached < this.scenario.steps().size(); reached++) {
			State less = next.copy();
			this.backward.retreat(less, owner, reached);
			to.add(Event.BODY_ENDS_EARLY, owner, reached, less);
		}
	}

	/**
	 * Runs a body that does not reach the first recorded step: it is released, or halted
	 * in the end. As a defect, its own step takes effect first, under a key of its own.
	 */
	private void doesNotFit(State state, int owner, Successors to) {
		boolean forward = state.is(Row.STATUS, Status.EXECUTING);
		boolean open = forward || state.is(Row.STATUS, Status.COMPENSATING);
		int faults = state.get(Row.FAULTS);
		if (!this.scenario.has(Option.OTHER_BODY) || faults == 0 || !open
				|| state.is(Step.JOURNAL, 0, Journal.ABSENT)) {
			return;
		}
		State next = state.copy().set(Row.FAULTS, faults - 1);
		if (forward && this.scenario.has(Defect.STEP_BEGUN_BEFORE_RECORDED_ONES)) {
			this.environment.copyJournal(next, owner);
			next.add(Step.DONE, 0).view(owner, 0, Journal.DONE).set(Owner.UNWRITTEN, owner, 1);
			this.forward.advance(next, owner, 1);
			to.add(Event.DOES_NOT_FIT, owner, 0, next);
			return;
		}
		to.add(Event.DOES_NOT_FIT, owner, 0, next.copy().clear(owner));
		next.set(Owner.BACKWARD, owner, forward ? 0 : 1);
		to.add(Event.DOES_NOT_FIT, owner, 0, Backward.halting(next, owner, Cause.NONE));
	}

	/** Runs the body with what the journal has recorded. */
	private State enter(State next, int owner) {
		if (next.is(Row.STATUS, Status.COMPENSATING)) {
			next.set(Owner.BACKWARD, owner, 1);
			this.backward.retreat(next, owner, this.scenario.steps().size());
		}
		else if (!next.is(Row.STATUS, Status.EXECUTING)) {
			next.clear(owner);
		}
		else if (next.get(Row.DEADLINE) == 1) {
			next.set(Owner.AT, owner, At.DECIDE);
		}
		else {
			this.forward.advance(next, owner, 0);
		}
		return next;
	}

}
