package dev.idempotent.sample.chaos;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the JVM halts at once, as {@code kill -9} does.
 */
enum Halt {

	/**
	 * When the work is written, and neither its record nor a commit has followed.
	 */
	IN_HANDLER("in-handler"),

	/**
	 * When all is written and nothing is committed.
	 */
	BEFORE_COMMIT("before-commit"),

	/**
	 * When all is committed and nothing else has happened.
	 */
	AFTER_COMMIT("after-commit"),

	/**
	 * When the answer is about to be stored in front of the database.
	 */
	BEFORE_COMPLETE("before-complete");

	private static final Logger logger = LoggerFactory.getLogger(Halt.class);

	private final String name;

	Halt(String name) {
		this.name = name;
	}

	/**
	 * Ends this JVM without any of its shutdown work.
	 */
	void strike() {
		logger.warn("Halting {}, as X-Chaos has asked", this);
		Runtime.getRuntime().halt(137);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
