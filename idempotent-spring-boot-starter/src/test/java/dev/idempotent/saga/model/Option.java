package dev.idempotent.saga.model;

/**
 * What may happen in a scenario beyond lost commits, late messages, pauses and deaths.
 */
enum Option {

	/**
	 * Participants and transactional steps may refuse; participants store that answer.
	 */
	STORED_REFUSALS,

	/**
	 * Participants may refuse with an answer that is not stored.
	 */
	UNSTORED_REFUSALS,

	/**
	 * The body catches a refusal and goes on.
	 */
	CATCHES_REFUSALS,

	/**
	 * The network or an HTTP client sends a message twice.
	 */
	RESENDS,

	/**
	 * Age limits pass and participants forget their records.
	 */
	AGE,

	/**
	 * Messages may arrive after the participant has forgotten their records.
	 */
	DELAYS_BEYOND_RETENTION,

	/**
	 * A participant may refuse an undo.
	 */
	REFUSED_UNDO,

	/**
	 * An operator retries or skips what is halted.
	 */
	OPERATOR,

	/**
	 * A second caller begins with the same key.
	 */
	SECOND_CALLER,

	/**
	 * The deadline may pass.
	 */
	DEADLINE,

	/**
	 * A body may reach another step first than the recorded one, because it is another
	 * version or names differ in each run.
	 */
	OTHER_BODY

}
