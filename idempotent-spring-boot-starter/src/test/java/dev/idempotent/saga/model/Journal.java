package dev.idempotent.saga.model;

/**
 * The state of a step's row. A step that is being undone keeps what was known before: its
 * cancel depends on it. A refusal proves nothing to a cancel: the action may have been
 * sent twice.
 */
enum Journal {

	ABSENT, ACTING, DONE, REFUSED, UNDOING_UNKNOWN, UNDOING_DONE, UNDONE;

	static final Journal[] OF = values();

	boolean isUndoing() {
		return this == UNDOING_UNKNOWN || this == UNDOING_DONE;
	}

}
