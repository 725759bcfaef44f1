package dev.idempotent.sample.chaos;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The moment at which the JVM halts, as after {@code kill -9}.
 */
enum Halt {

	/**
	 * The work is written, but neither its record nor the commit.
	 */
	IN_HANDLER("in-handler"),

	/**
	 * Everything is written and nothing is committed.
	 */
	BEFORE_COMMIT("before-commit"),

	/**
	 * Everything is committed and nothing else has happened.
	 */
	AFTER_COMMIT("after-commit"),

	/**
	 * The response is about to be stored in the store in front of the database.
	 */
	BEFORE_COMPLETE("before-complete");

	private static final Logger logger = LoggerFactory.getLogger(Halt.class);

	private final String name;

	Halt(String name) {
		this.name = name;
	}

	/**
	 * Halts this JVM without running shutdown hooks.
	 */
	void strike() {
		logger.warn("Halting {}, as requested by X-Chaos", this);
		Runtime.getRuntime().halt(137);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
