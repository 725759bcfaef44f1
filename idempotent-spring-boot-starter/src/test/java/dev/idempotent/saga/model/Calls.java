package dev.idempotent.saga.model;

import java.util.function.Consumer;

import dev.idempotent.saga.model.Participants.Reply;
import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Cause;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Successors;

/**
 * Owners that wait for a reply, and messages that arrive after their owner has stopped
 * waiting. A lost message is a late one that never arrives.
 */
final class Calls {

	private final Scenario scenario;

	private final Participants participants;

	private final Forward forward;

	private final Backward backward;

	Calls(Scenario scenario, Participants participants, Forward forward, Backward backward) {
		this.scenario = scenario;
		this.participants = participants;
		this.forward = forward;
		this.backward = backward;
	}

	void called(State state, int owner, Successors to) {
		int step = state.get(Owner.STEP, owner);
		this.participants.act(state, step, this.scenario.scope(owner),
				(next, reply) -> answered(Event.ACTION_ANSWERED, next, owner, reply, to));
		byGateway(state, owner, (next) -> answered(Event.ANSWERED_BY_GATEWAY, next, owner, Reply.DONE, to), to);
		faults(state, owner, to);
	}

	private void answered(Event event, State next, int owner, Reply reply, Successors to) {
		int step = next.get(Owner.STEP, owner);
		if (!this.forward.settles(next, owner, step, reply)) {
			unknown(event, next, owner, to);
			return;
		}
		if (next.get(Owner.BACKWARD, owner) == 1) {
			this.backward.retreat(next, owner, step + 1);
		}
		else {
			this.forward.advance(next, owner, step + 1);
		}
		to.add(event, owner, step, next);
	}

	void undoCalled(State state, int owner, Successors to) {
		int step = state.get(Owner.STEP, owner);
		boolean done = state.view(owner, step) == Journal.UNDOING_DONE;
		this.participants.undo(state, step, this.scenario.scope(owner), done, (next, reply) -> {
			if (reply == Reply.DONE) {
				undone(next, owner, step);
			}
			else {
				Backward.halting(next, owner, Cause.REFUSED_UNDO);
			}
			to.add(Event.UNDO_ANSWERED, owner, step, next);
		});
		byGateway(state, owner, (next) -> {
			undone(next, owner, step);
			to.add(Event.ANSWERED_BY_GATEWAY, owner, step, next);
		}, to);
		faults(state, owner, to);
	}

	private void undone(State next, int owner, int step) {
		next.view(owner, step, Journal.UNDONE).set(Owner.UNWRITTEN, owner, step + 1);
		this.backward.retreat(next, owner, step);
	}

	/**
	 * A gateway answers with a success, and the service has not seen the call. Without
	 * the receipt of the service, that proves nothing.
	 */
	private void byGateway(State state, int owner, Consumer<State> believed, Successors to) {
		int faults = state.get(Row.FAULTS);
		if (faults > 0) {
			State next = state.copy().set(Row.FAULTS, faults - 1);
			if (this.scenario.has(Defect.NO_RECEIPTS)) {
				believed.accept(next);
			}
			else {
				unknown(Event.ANSWERED_BY_GATEWAY, next, owner, to);
			}
		}
	}

	private void faults(State state, int owner, Successors to) {
		int faults = state.get(Row.FAULTS);
		if (faults > 0) {
			State next = late(state.copy(), owner).set(Row.FAULTS, faults - 1);
			unknown(Event.TIMES_OUT, next, owner, to);
			if (this.scenario.has(Option.RESENDS)) {
				to.add(Event.SENT_TWICE, owner, state.get(Owner.STEP, owner), next);
			}
		}
	}

	/** Without an outcome the owner releases the saga, or uses its last attempt. */
	private void unknown(Event event, State next, int owner, Successors to) {
		int step = next.get(Owner.STEP, owner);
		to.add(event, owner, step, next.copy().clear(owner));
		State last = next.copy();
		if (next.get(Owner.BACKWARD, owner) == 1) {
			Backward.halting(last, owner, Cause.ATTEMPTS);
		}
		else {
			last.set(Owner.AT, owner, At.DECIDE);
		}
		to.add(event, owner, step, last.set(Owner.FIRST_ATTEMPT, owner, 0));
	}

	/** Leaves an owner's message, if it has sent one, to arrive later. */
	static State late(State next, int owner) {
		int step = next.get(Owner.STEP, owner);
		if (next.is(Owner.AT, owner, At.CALLED)) {
			next.add(Step.LATE_ACTIONS, step);
		}
		else if (next.is(Owner.AT, owner, At.UNDO_CALLED)) {
			boolean done = next.view(owner, step) == Journal.UNDOING_DONE;
			next.add(done ? Step.LATE_UNDOS : Step.LATE_CANCELS, step);
		}
		return next;
	}

	void arrivals(State state, int step, Successors to) {
		for (int scope = 0; scope <= this.scenario.scope(1); scope++) {
			if (state.get(Step.LATE_ACTIONS, step) > 0) {
				this.participants.act(less(state, Step.LATE_ACTIONS, step), step, scope,
						(next, reply) -> to.add(Event.LATE_ACTION_ARRIVES, Successors.NONE, step, next));
			}
			undoArrives(state, Step.LATE_UNDOS, step, scope, to);
			undoArrives(state, Step.LATE_CANCELS, step, scope, to);
		}
	}

	private void undoArrives(State state, Step field, int step, int scope, Successors to) {
		if (state.get(field, step) > 0) {
			this.participants.undo(less(state, field, step), step, scope, field == Step.LATE_UNDOS,
					(next, reply) -> to.add(Event.LATE_UNDO_ARRIVES, Successors.NONE, step, next));
		}
	}

	private static State less(State state, Step field, int step) {
		return state.copy().set(field, step, state.get(field, step) - 1);
	}

}
