package dev.idempotent.sample.checkout;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * A moment of a checkout at which its process can end.
 */
public enum Moment {

	/**
	 * The saga is started and none of its steps has run.
	 */
	AFTER_START("after-start"),

	/**
	 * The order is written and not committed.
	 */
	BEFORE_COMMIT("before-commit"),

	/**
	 * The order is committed.
	 */
	AFTER_COMMIT("after-commit"),

	/**
	 * The journal says that the payment is being made, and the gateway was not called.
	 */
	BEFORE_CALL("before-call"),

	/**
	 * The gateway has charged the card, and the journal does not say so.
	 */
	AFTER_CALL("after-call"),

	/**
	 * The points are credited, and the journal does not say so.
	 */
	AFTER_CREDIT("after-credit"),

	/**
	 * All steps are done, and the saga is not completed.
	 */
	BEFORE_COMPLETE("before-complete"),

	/**
	 * The saga is completed, and nothing else has happened.
	 */
	AFTER_COMPLETE("after-complete"),

	/**
	 * The saga is being undone: the card was refunded, and the journal does not say so.
	 */
	IN_COMPENSATION("in-compensation"),

	/**
	 * Not an end: the process stands still before it calls the gateway, for longer than
	 * its lease, and continues.
	 */
	PAUSE("pause");

	private final String name;

	Moment(String name) {
		this.name = name;
	}

	@Override
	@JsonValue
	public String toString() {
		return this.name;
	}

}
