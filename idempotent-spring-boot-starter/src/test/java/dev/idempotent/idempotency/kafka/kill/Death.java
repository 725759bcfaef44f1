package dev.idempotent.idempotency.kafka.kill;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ends this JVM, as {@code kill -9} would, when it comes to an instant for the n-th time.
 */
class Death {

	/**
	 * The exit status of this end.
	 */
	static final int STATUS = 86;

	private final String instant;

	private final AtomicInteger rest;

	/**
	 * Determines a death.
	 * @param instant the name of an {@link At}, or nothing for a long life
	 * @param times at which time
	 */
	Death(String instant, int times) {
		this.instant = instant;
		this.rest = new AtomicInteger(times);
	}

	void at(At now) {
		if (now.name().equals(this.instant) && this.rest.decrementAndGet() == 0) {
			Runtime.getRuntime().halt(STATUS);
		}
	}

	/**
	 * Where a consumer can die.
	 */
	enum At {

		AFTER_THE_EFFECT, BEFORE_THE_COMMIT, AFTER_THE_COMMIT, BEFORE_THE_ACKNOWLEDGEMENT

	}

}
