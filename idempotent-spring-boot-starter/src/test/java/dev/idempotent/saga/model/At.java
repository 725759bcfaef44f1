package dev.idempotent.saga.model;

/**
 * Where an owner is. A pause before a send is a late message, a death before it a message
 * that never arrives.
 */
enum At {

	/** Not running. */
	IDLE,

	/** Has raised the epoch, or has lost a reply: reads the journal next. */
	READ,

	/** Has read the journal before it raised the epoch (a defect). */
	PEEKED,

	/** Before a step of the body, or at its end. */
	RUN,

	/** Waits for the reply to an action. */
	CALLED,

	/** Has to write that the saga is compensated from now on. */
	DECIDE,

	/** Compensating: before the undo of a step, or at the end. */
	BACK,

	/** Waits for the reply to an undo. */
	UNDO_CALLED,

	/** Has to write that the saga is halted. */
	HALT

}
