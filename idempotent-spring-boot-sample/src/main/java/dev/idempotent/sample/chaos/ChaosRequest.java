package dev.idempotent.sample.chaos;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What the header {@code X-Chaos} asks for, such as {@code delay=2000,fail=after-commit}.
 *
 * @param delay how long to wait before the work
 * @param failure where to fail, or {@code null} to let the work succeed
 * @param halt where to halt the JVM, or {@code null} to let it live
 */
record ChaosRequest(Duration delay, @Nullable Failure failure, @Nullable Halt halt) {

	private static final Duration MAX_DELAY = Duration.ofSeconds(60);

	/**
	 * Reads the header.
	 * @throws BadChaosException if it asks for something that is not on offer
	 */
	static ChaosRequest parse(String header) {
		Duration delay = Duration.ZERO;
		Failure failure = null;
		Halt halt = null;
		for (String wish : header.split(",", -1)) {
			String[] parts = wish.strip().split("=", 2);
			String value = (parts.length == 2) ? parts[1] : "";
			switch (parts[0]) {
				case "delay" -> delay = parseDelay(value);
				case "fail" -> failure = parse(Failure.class, value);
				case "halt" -> halt = parse(Halt.class, value);
				default -> throw new BadChaosException();
			}
		}
		return new ChaosRequest(delay, failure, halt);
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

	private static <E extends Enum<E>> E parse(Class<E> moments, String value) {
		for (E moment : moments.getEnumConstants()) {
			if (moment.toString().equals(value)) {
				return moment;
			}
		}
		throw new BadChaosException();
	}

	/**
	 * Where a request fails.
	 */
	enum Failure {

		/**
		 * When all is written and nothing is committed.
		 */
		BEFORE_COMMIT("before-commit"),

		/**
		 * When all is committed and nothing is answered.
		 */
		AFTER_COMMIT("after-commit");

		private final String name;

		Failure(String name) {
			this.name = name;
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
