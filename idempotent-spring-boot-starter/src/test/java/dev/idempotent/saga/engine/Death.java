package dev.idempotent.saga.engine;

/**
 * The simulated death of a process: whatever it calls from now on fails.
 */
final class Death extends Error {

	Death() {
		super("The process is dead", null, false, false);
	}

}
