package dev.idempotent.saga.model;

/**
 * Why a saga is halted.
 */
enum Cause {

	NONE, AGE, ATTEMPTS, REFUSED_UNDO

}
