package dev.idempotent.saga.model;

import dev.idempotent.saga.model.Fence.Needs;
import dev.idempotent.saga.model.Participants.Reply;
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

/**
 * An owner that runs the body: recorded steps are skipped by name, the others take
 * effect.
 */
final class Forward {

	private final Scenario scenario;

	private final Fence fence;

	private final Waits waits;

	Forward(Scenario scenario, Fence fence) {
		this.scenario = scenario;
		this.fence = fence;
		this.waits = new Waits(scenario, fence, this);
	}

	Waits waits() {
		return this.waits;
	}

	void run(State state, int owner, Successors to) {
		int step = state.get(Owner.STEP, owner);
		if (state.get(Owner.FRESH, owner) == 0 && this.fence.mayLeave(state, owner)) {
			to.add(Event.BODY_THROWS, owner, step, state.copy().set(Owner.AT, owner, At.DECIDE));
		}
		if (step == this.scenario.steps().size()) {
			this.fence.write(state, owner, Event.COMPLETES, Needs.BEFORE_DEADLINE, to,
					(next) -> next.set(Row.STATUS, Status.COMPLETED).set(Row.COMPLETED, 1).clear(owner));
		}
		else if (this.scenario.kind(step) == StepKind.TRANSACTION) {
			transaction(state, owner, step, to);
		}
		else if (this.scenario.kind(step).isWait()) {
			this.waits.run(state, owner, step, to);
		}
		else {
			call(state, owner, step, to);
		}
	}

	private void transaction(State state, int owner, int step, Successors to) {
		boolean expected = state.is(Step.JOURNAL, step, Journal.ABSENT);
		if (this.fence.rereads(state, owner, Needs.BEFORE_DEADLINE, expected, to)) {
			return;
		}
		this.fence.write(state, owner, Event.COMMITS_TRANSACTION, Needs.BEFORE_DEADLINE, to, (next) -> {
			next.add(Step.DONE, step).set(Step.JOURNAL, step, Journal.DONE).view(owner, step, Journal.DONE);
			advance(next, owner, step + 1);
		});
		if (this.scenario.has(Option.STORED_REFUSALS) && this.fence.mayLeave(state, owner)) {
			refuse(state, owner, step, to);
		}
	}

	/** A first step that is refused leaves no row. */
	private void refuse(State state, int owner, int step, Successors to) {
		if (state.get(Owner.FRESH, owner) == 1) {
			to.add(Event.TRANSACTION_REFUSED, owner, step, state.copy().clear(owner));
			return;
		}
		this.fence.write(state, owner, Event.TRANSACTION_REFUSED, Needs.BEFORE_DEADLINE, to, (next) -> {
			next.set(Step.JOURNAL, step, Journal.REFUSED).view(owner, step, Journal.REFUSED);
			advance(next, owner, step + 1);
		});
	}

	private void call(State state, int owner, int step, Successors to) {
		if (state.view(owner, step) == Journal.ACTING) {
			again(state, owner, step, to);
			return;
		}
		Journal journal = state.journal(step);
		boolean expected = journal == Journal.ABSENT || journal == Journal.ACTING;
		if (this.fence.rereads(state, owner, Needs.BEFORE_DEADLINE, expected, to)) {
			return;
		}
		this.fence.write(state, owner, Event.WRITES_ACTING, Needs.BEFORE_DEADLINE, to,
				(next) -> next.set(Step.JOURNAL, step, Journal.ACTING)
					.view(owner, step, Journal.ACTING)
					.set(Owner.AT, owner, At.CALLED)
					.set(Owner.FIRST_ATTEMPT, owner, 1));
	}

	/** Calls an action whose outcome is unknown: under the same key, within its age. */
	void again(State state, int owner, int step, Successors to) {
		State next = state.copy().set(Owner.STEP, owner, step);
		if (state.get(Step.ACTION_OLD, step) == 1 && !this.scenario.has(Defect.ACTION_AGE_IGNORED)) {
			next.set(Owner.AT, owner, At.HALT).set(Owner.CAUSE, owner, Cause.AGE);
			to.add(Event.TOO_OLD, owner, step, next);
		}
		else {
			next.set(Owner.AT, owner, At.CALLED).set(Owner.FIRST_ATTEMPT, owner, 0);
			to.add(Event.CALLS_AGAIN, owner, step, next);
		}
	}

	/** Returns whether a reply settles the outcome, which is then in the owner's view. */
	boolean settles(State next, int owner, int step, Reply reply) {
		boolean definite = reply == Reply.REFUSED_REPLAYED
				|| (reply == Reply.REFUSED && (next.get(Owner.FIRST_ATTEMPT, owner) == 1
						|| this.scenario.has(Defect.UNREPLAYED_REFUSAL_TAKEN_AS_DEFINITE)));
		if (reply != Reply.DONE && !definite) {
			return false;
		}
		next.view(owner, step, definite ? Journal.REFUSED : Journal.DONE).set(Owner.UNWRITTEN, owner, step + 1);
		next.set(Owner.FIRST_ATTEMPT, owner, 0);
		return true;
	}

	/** Goes on to the first step that has no outcome, or out of the body. */
	void advance(State next, int owner, int from) {
		int step = from;
		this.waits.noteOutcomes(next, owner);
		if (step > 0 && leaves(next, owner, step - 1)) {
			next.set(Owner.AT, owner, At.DECIDE);
			return;
		}
		while (step < this.scenario.steps().size() && recorded(next.view(owner, step))) {
			if (leaves(next, owner, step)) {
				next.set(Owner.AT, owner, At.DECIDE);
				return;
			}
			step++;
		}
		next.set(Owner.AT, owner, At.RUN).set(Owner.STEP, owner, step);
	}

	private boolean leaves(State next, int owner, int step) {
		return next.view(owner, step) == Journal.REFUSED && !this.scenario.has(Option.CATCHES_REFUSALS);
	}

	private static boolean recorded(Journal view) {
		return view != Journal.ABSENT && view != Journal.ACTING;
	}

}
