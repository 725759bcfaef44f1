package dev.idempotent.saga.model;

/**
 * Why a saga is halted. {@code NONE} stands for a body that does not fit, too.
 */
enum Cause {

	NONE, AGE, ATTEMPTS, REFUSED_UNDO

}
