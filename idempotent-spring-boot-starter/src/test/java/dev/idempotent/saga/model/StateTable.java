package dev.idempotent.saga.model;

import java.util.Arrays;

/**
 * The states found so far, numbered in order of discovery, each with the one before it.
 */
final class StateTable {

	private long[] words = new long[2 << 12];

	private int[] parents = new int[1 << 12];

	private int[] slots = new int[1 << 13];

	private int size;

	/** Adds a state unless it is known. */
	void add(State state, int parent) {
		int slot = find(state.steps(), state.rest());
		if (this.slots[slot] != 0) {
			return;
		}
		if (this.size == this.parents.length) {
			this.words = Arrays.copyOf(this.words, this.words.length * 2);
			this.parents = Arrays.copyOf(this.parents, this.size * 2);
		}
		this.words[this.size * 2] = state.steps();
		this.words[this.size * 2 + 1] = state.rest();
		this.parents[this.size] = parent;
		this.slots[slot] = ++this.size;
		if (this.size * 2 > this.slots.length) {
			grow();
		}
	}

	/** Returns the number of a known state. */
	int number(State state) {
		return this.slots[find(state.steps(), state.rest())] - 1;
	}

	State get(int number) {
		return new State(this.words[number * 2], this.words[number * 2 + 1]);
	}

	int parent(int number) {
		return this.parents[number];
	}

	int size() {
		return this.size;
	}

	private int find(long steps, long rest) {
		int mask = this.slots.length - 1;
		int slot = hash(steps, rest) & mask;
		while (this.slots[slot] != 0 && !holds(this.slots[slot] - 1, steps, rest)) {
			slot = (slot + 1) & mask;
		}
		return slot;
	}

	private boolean holds(int number, long steps, long rest) {
		return this.words[number * 2] == steps && this.words[number * 2 + 1] == rest;
	}

	private static int hash(long steps, long rest) {
		long hash = (steps * 0x9E3779B97F4A7C15L ^ rest) * 0xC2B2AE3D27D4EB4FL;
		return (int) (hash >>> 32);
	}

	private void grow() {
		this.slots = new int[this.slots.length * 2];
		for (int number = 0; number < this.size; number++) {
			this.slots[find(this.words[number * 2], this.words[number * 2 + 1])] = number + 1;
		}
	}

}
