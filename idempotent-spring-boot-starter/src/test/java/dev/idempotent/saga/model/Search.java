package dev.idempotent.saga.model;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;

import dev.idempotent.saga.model.Scenario.Defect;
import dev.idempotent.saga.model.State.Status;
import org.jspecify.annotations.Nullable;

/**
 * Visits all states of a scenario, nearest first, so that a counterexample is as short as
 * possible.
 */
final class Search {

	private final Scenario scenario;

	private final SagaModel model;

	private final Set<Invariant> invariants;

	private final boolean alike;

	private final StateTable table = new StateTable();

	private final Set<Event> events = EnumSet.noneOf(Event.class);

	private final Set<Status> statuses = EnumSet.noneOf(Status.class);

	private Search(Scenario scenario, Set<Invariant> invariants) {
		this.invariants = invariants;
		this.scenario = scenario;
		this.model = new SagaModel(scenario);
		this.alike = !scenario.has(Defect.SCOPE_CHANGES);
	}

	/** Looks for a state that breaks one of the invariants. */
	static Result run(Scenario scenario, Set<Invariant> invariants) {
		return new Search(scenario, invariants).run();
	}

	private Result run() {
		this.model.initial().forEach((state) -> add(state, -1));
		for (int number = 0; number < this.table.size(); number++) {
			State state = this.table.get(number);
			this.statuses.add(state.status());
			for (Invariant invariant : this.invariants) {
				if (!invariant.holds(this.scenario, state)) {
					return result(invariant, number);
				}
			}
			int parent = number;
			this.model.successors(state, (event, owner, step, next) -> {
				this.events.add(event);
				add(next, parent);
			});
		}
		int stuck = this.invariants.contains(Invariant.PROGRESS) ? stuck() : -1;
		return result((stuck < 0) ? null : Invariant.PROGRESS, stuck);
	}

	private Result result(@Nullable Invariant broken, int number) {
		return new Result(this.table.size(), this.events, this.statuses, broken, (broken == null) ? "" : trace(number));
	}

	private void add(State next, int parent) {
		this.table.add(normalized(next), parent);
	}

	private State normalized(State next) {
		return this.alike ? next.normalized() : next;
	}

	/** Returns the first state from which no end is reached, or -1. */
	private int stuck() {
		BitSet ending = new BitSet(this.table.size());
		int before = -1;
		int found = 0;
		while (found > before && found < this.table.size()) {
			before = found;
			for (int i = ending.previousClearBit(this.table.size() - 1); i >= 0; i = ending.previousClearBit(i - 1)) {
				if (ends(this.table.get(i), ending)) {
					ending.set(i);
					found++;
				}
			}
		}
		return (found < this.table.size()) ? ending.nextClearBit(0) : -1;
	}

	private boolean ends(State state, BitSet ending) {
		boolean[] ends = { Invariant.ended(state) };
		if (!ends[0]) {
			this.model.successors(state, (event, owner, step, next) -> {
				if (!ends[0] && event.kind().isReliable()) {
					ends[0] = ending.get(this.table.number(normalized(next)));
				}
			});
		}
		return ends[0];
	}

	/** Replays the way to a state, one line per event. */
	private String trace(int number) {
		Deque<Integer> way = new ArrayDeque<>();
		for (int i = number; i >= 0; i = this.table.parent(i)) {
			way.push(i);
		}
		StringBuilder trace = new StringBuilder();
		boolean[] exchanged = { false };
		int from = way.pop();
		for (int to : way) {
			trace.append(line(from, to, exchanged)).append('\n');
			from = to;
		}
		return trace.append(this.table.get(number)).toString();
	}

	private String line(int from, int to, boolean[] exchanged) {
		String[] line = new String[1];
		boolean[] now = new boolean[1];
		this.model.successors(this.table.get(from), (event, owner, step, next) -> {
			State normalized = normalized(next);
			if (line[0] == null && this.table.number(normalized) == to) {
				String name = (owner < 0) ? "-" : ((owner == 0) == exchanged[0]) ? "B" : "A";
				line[0] = name + ' ' + event + ((step < 0) ? "" : " " + step) + "  " + next;
				now[0] = normalized != next;
			}
		});
		exchanged[0] ^= now[0];
		return line[0];
	}

	/**
	 * What a search has found.
	 *
	 * @param states how many states it has visited
	 * @param events what has happened in them
	 * @param statuses the statuses reached
	 * @param broken the invariant that does not hold, or null
	 * @param trace the way to the state where it does not
	 */
	record Result(int states, Set<Event> events, Set<Status> statuses, @Nullable Invariant broken, String trace) {

	}

	/**
	 * The states found so far, numbered in order of discovery, each with the one before
	 * it.
	 */
	private static final class StateTable {

		private static final int WORDS = 3;

		private long[] words = new long[WORDS << 12];

		private int[] parents = new int[1 << 12];

		private int[] slots = new int[1 << 13];

		private int size;

		/** Adds a state unless it is known. */
		void add(State state, int parent) {
			int slot = find(state.steps(), state.rest(), state.waits());
			if (this.slots[slot] != 0) {
				return;
			}
			if (this.size == this.parents.length) {
				this.words = Arrays.copyOf(this.words, this.words.length * 2);
				this.parents = Arrays.copyOf(this.parents, this.size * 2);
			}
			this.words[this.size * WORDS] = state.steps();
			this.words[this.size * WORDS + 1] = state.rest();
			this.words[this.size * WORDS + 2] = state.waits();
			this.parents[this.size] = parent;
			this.slots[slot] = ++this.size;
			if (this.size * 2 > this.slots.length) {
				grow();
			}
		}

		/** Returns the number of a known state. */
		int number(State state) {
			return this.slots[find(state.steps(), state.rest(), state.waits())] - 1;
		}

		State get(int number) {
			return new State(this.words[number * WORDS], this.words[number * WORDS + 1],
					this.words[number * WORDS + 2]);
		}

		int parent(int number) {
			return this.parents[number];
		}

		int size() {
			return this.size;
		}

		private int find(long steps, long rest, long waits) {
			int mask = this.slots.length - 1;
			int slot = hash(steps, rest, waits) & mask;
			while (this.slots[slot] != 0 && !holds(this.slots[slot] - 1, steps, rest, waits)) {
				slot = (slot + 1) & mask;
			}
			return slot;
		}

		private boolean holds(int number, long steps, long rest, long waits) {
			return this.words[number * WORDS] == steps && this.words[number * WORDS + 1] == rest
					&& this.words[number * WORDS + 2] == waits;
		}

		private static int hash(long steps, long rest, long waits) {
			long hash = ((steps * 0x9E3779B97F4A7C15L ^ rest) * 0xC2B2AE3D27D4EB4FL ^ waits) * 0xD6E8FEB86659FD93L;
			return (int) (hash >>> 32);
		}

		private void grow() {
			this.slots = new int[this.slots.length * 2];
			for (int number = 0; number < this.size; number++) {
				State state = get(number);
				this.slots[find(state.steps(), state.rest(), state.waits())] = number + 1;
			}
		}

	}

}
