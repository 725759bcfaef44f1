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
	 * The payment is recorded as begun, and the gateway was not called.
	 */
	BEFORE_CALL("before-call"),

	/**
	 * The gateway has charged the card, and this is not recorded.
	 */
	AFTER_CALL("after-call"),

	/**
	 * The points are credited, and this is not recorded.
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
	 * The saga is being undone: the card was refunded, and this is not recorded.
	 */
	IN_COMPENSATION("in-compensation"),

	/**
	 * The process does not end: before it calls the gateway, it pauses for longer than
	 * its lease, and then continues.
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
