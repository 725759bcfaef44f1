package dev.idempotent.sample.chaos;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What the header {@code X-Chaos} asks for, such as {@code delay=2000,fail=after-commit}.
 *
 * @param delay how long to wait before the work
 * @param failure where to fail, or {@code null} to let the work succeed
 */
record ChaosRequest(Duration delay, @Nullable Failure failure) {

	private static final Duration MAX_DELAY = Duration.ofSeconds(60);

	/**
	 * Reads the header.
	 * @throws BadChaosException if it asks for something that is not on offer
	 */
	static ChaosRequest parse(String header) {
		Duration delay = Duration.ZERO;
		Failure failure = null;
		for (String wish : header.split(",", -1)) {
			String[] parts = wish.strip().split("=", 2);
			String value = (parts.length == 2) ? parts[1] : "";
			switch (parts[0]) {
				case "delay" -> delay = parseDelay(value);
				case "fail" -> failure = parseFailure(value);
				default -> throw new BadChaosException();
			}
		}
		return new ChaosRequest(delay, failure);
	}

	private static Duration parseDelay(String value) {
		// Five digits say enough and cannot overflow.
		if (!value.matches("[0-9]{1,5}")) {
			throw new BadChaosException();
		}
		Duration delay = Duration.ofMillis(Long.parseLong(value));
		if (delay.compareTo(MAX_DELAY) > 0) {
			throw new BadChaosException();
		}
		return delay;
	}

	private static Failure parseFailure(String value) {
		return switch (value) {
			case "before-commit" -> Failure.BEFORE_COMMIT;
			case "after-commit" -> Failure.AFTER_COMMIT;
			default -> throw new BadChaosException();
		};
	}

	/**
	 * Where a request fails.
	 */
	enum Failure {

		/**
		 * When all is written and nothing is committed.
		 */
		BEFORE_COMMIT,

		/**
		 * When all is committed and nothing is answered.
		 */
		AFTER_COMMIT

	}

}
