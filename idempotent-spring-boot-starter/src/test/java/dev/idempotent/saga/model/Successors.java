package dev.idempotent.saga.model;

/**
 * Takes the states that follow one state.
 */
interface Successors {

	/** For events without an owner or step. */
	int NONE = -1;

	void add(Event event, int owner, int step, State next);

}
