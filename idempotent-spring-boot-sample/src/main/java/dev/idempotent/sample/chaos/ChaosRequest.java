package dev.idempotent.sample.chaos;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The parsed header {@code X-Chaos}, such as {@code delay=2000,fail=after-commit}.
 *
 * @param delay how long to wait before the work
 * @param failure what fails when, or {@code null} not to fail
 * @param halt when to halt the JVM, or {@code null} not to halt
 */
record ChaosRequest(Duration delay, @Nullable Failure failure, @Nullable Halt halt) {

	private static final Duration MAX_DELAY = Duration.ofSeconds(60);

	/**
	 * Parses the header.
	 * @throws BadChaosException if the header is invalid
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
		// Five digits suffice and cannot overflow.
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
	 * The moment at which a request fails.
	 */
	enum Failure {

		/**
		 * Everything is written and nothing is committed.
		 */
		BEFORE_COMMIT("before-commit"),

		/**
		 * Everything is committed and no response has been sent.
		 */
		AFTER_COMMIT("after-commit"),

		/**
		 * The request succeeds. The first attempts of each handler of its event fail.
		 */
		HANDLERS("handlers");

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
