package dev.idempotent.saga.model;

import java.util.function.BiPredicate;
import java.util.stream.IntStream;

import dev.idempotent.saga.model.Scenario.Option;
import dev.idempotent.saga.model.Scenario.StepKind;
import dev.idempotent.saga.model.State.At;
import dev.idempotent.saga.model.State.Journal;
import dev.idempotent.saga.model.State.Outcome;
import dev.idempotent.saga.model.State.Owner;
import dev.idempotent.saga.model.State.Row;
import dev.idempotent.saga.model.State.Status;
import dev.idempotent.saga.model.State.Step;
import dev.idempotent.saga.model.State.Wait;
import dev.idempotent.saga.model.State.Waiting;

/**
 * What holds in every state. A saga that has ended keeps its promise whatever arrives
 * late, because that leads to further states.
 */
enum Invariant {

	/**
	 * Neither action nor undo takes effect twice, and an undo never without its action.
	 */
	AT_MOST_ONCE((scenario, state) -> steps(scenario).allMatch(
			(step) -> state.get(Step.DONE, step) <= 1 && state.get(Step.UNDONE, step) <= state.get(Step.DONE, step))),

	/**
	 * Completed: each step has taken effect once, except those whose refusal was caught.
	 */
	COMPLETED_IS_ONCE((scenario,
			state) -> !state.is(Row.STATUS, Status.COMPLETED) || steps(scenario)
				.filter((step) -> !scenario.kind(step).isWait())
				.allMatch((step) -> state.get(Step.UNDONE, step) == 0
						&& state.get(Step.DONE, step) == (state.is(Step.JOURNAL, step, Journal.REFUSED) ? 0 : 1))),

	/** Compensated: what took effect is undone, except plain steps. */
	COMPENSATED_IS_NET_ZERO((scenario, state) -> !state.is(Row.STATUS, Status.COMPENSATED)
			|| steps(scenario).filter((step) -> scenario.kind(step) != StepKind.PLAIN)
				.allMatch((step) -> state.get(Step.DONE, step) == state.get(Step.UNDONE, step))),

	/** Never two different answers. */
	ONE_ANSWER((scenario, state) -> state.get(Row.COMPLETED) + state.get(Row.COMPENSATED) <= 1),

	/** Undone in reverse order. */
	REVERSE_ORDER((scenario, state) -> state.get(Row.DISORDER) == 0),

	/**
	 * Halted only with a step whose outcome cannot be proved, whose undo is refused, or
	 * which the body does not reach.
	 */
	HALTED_WITH_CAUSE((scenario, state) -> !state.is(Row.STATUS, Status.HALTED)
			|| steps(scenario).anyMatch((step) -> Invariant.unresolved(scenario, state, step))),

	/**
	 * A signal that its sender was told is accepted is not lost: the wait for it has not
	 * expired.
	 */
	ACCEPTED_OR_EXPIRED((scenario, state) -> signals(scenario)
		.allMatch((step) -> state.get(Wait.ACCEPTED, step) == 0 || !state.is(Step.JOURNAL, step, Journal.REFUSED))),

	/**
	 * The saga receives what one sender was told is accepted, and the others are told
	 * whether they have sent the same.
	 */
	ONE_SIGNAL((scenario, state) -> state.get(Waiting.FALSE_ANSWER) == 0
			&& signals(scenario).allMatch((step) -> state.get(Wait.ACCEPTED, step) < State.SENDERS + 1
					&& (!state.is(Step.JOURNAL, step, Journal.DONE) || state.get(Wait.ACCEPTED, step) > 0))),

	/** All runs of the body get the same outcome of a wait. */
	ONE_OUTCOME(
			(scenario, state) -> steps(scenario).noneMatch((step) -> state.is(Wait.OUTCOME, step, Outcome.DIFFERENT))),

	/** No saga waits after its signal was committed, or it was cancelled. */
	NO_WAIT_IN_VAIN((scenario, state) -> state.get(Waiting.FOR) == 0
			|| (state.get(Wait.ACCEPTED, state.get(Waiting.FOR) - 1) == 0 && state.get(Waiting.CANCELLED) == 0)),

	/** A saga whose caller was told that it will be undone does not complete. */
	CANCELLED_IS_NOT_COMPLETED(
			(scenario, state) -> state.get(Waiting.CANCELLED) == 0 || !state.is(Row.STATUS, Status.COMPLETED)),

	/**
	 * From every state an end is reached without faults, and without a clock except for
	 * the time of waits.
	 */
	PROGRESS((scenario, state) -> true);

	@SuppressWarnings("ImmutableEnumChecker")
	private final BiPredicate<Scenario, State> holds;

	Invariant(BiPredicate<Scenario, State> holds) {
		this.holds = holds;
	}

	boolean holds(Scenario scenario, State state) {
		return this.holds.test(scenario, state);
	}

	static boolean ended(State state) {
		boolean neverBegun = state.is(Row.STATUS, Status.ABSENT) && state.is(Owner.AT, 0, At.IDLE)
				&& state.is(Owner.AT, 1, At.IDLE);
		return neverBegun || state.is(Row.STATUS, Status.COMPLETED) || state.is(Row.STATUS, Status.COMPENSATED)
				|| state.is(Row.STATUS, Status.HALTED);
	}

	private static boolean unresolved(Scenario scenario, State state, int step) {
		Journal journal = state.journal(step);
		boolean old = state.get(Step.ACTION_OLD, step) == 1 || state.get(Step.UNDO_OLD, step) == 1;
		return switch (state.cause()) {
			case NONE -> scenario.has(Option.OTHER_BODY) && journal != Journal.ABSENT;
			case AGE -> old && (journal == Journal.ACTING || journal.isUndoing()
					|| (journal == Journal.REFUSED && scenario.kind(step) == StepKind.CANCEL));
			case ATTEMPTS ->
				journal.isUndoing() || (journal == Journal.ACTING && scenario.kind(step) == StepKind.COMPENSATE);
			case REFUSED_UNDO -> journal.isUndoing();
		};
	}

	private static IntStream signals(Scenario scenario) {
		return steps(scenario).filter((step) -> scenario.kind(step) == StepKind.SIGNAL);
	}

	private static IntStream steps(Scenario scenario) {
		return IntStream.range(0, scenario.steps().size());
	}

}
