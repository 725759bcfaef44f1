package dev.idempotent.saga.model;

/**
 * The status of the saga's row; {@code ABSENT} before its insert.
 */
enum Status {

	ABSENT, EXECUTING, COMPENSATING, COMPLETED, COMPENSATED, HALTED

}
