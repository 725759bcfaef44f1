package dev.idempotent.stream;

import java.time.Duration;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Doubling waits with jitter, so that workers that fail together do not retry together.
 * Each wait lies between half of its upper limit and the limit.
 */
final class JitteredBackOff extends ExponentialBackOff {

	private static final int MAX_DOUBLINGS = 62;

	/**
	 * Creates a backoff.
	 * @param first the upper limit of the first wait, doubled for each further one
	 * @param longest the upper limit of all waits
	 */
	JitteredBackOff(Duration first, Duration longest) {
		long quarter = first.toMillis() / 4;
		setInitialInterval(first.toMillis() - quarter);
		setJitter(quarter);
		setMultiplier(2);
		setMaxInterval(longest.toMillis());
	}

	/**
	 * The wait after a number of consecutive failures.
	 * @param failures at least 1
	 */
	Duration after(long failures) {
		BackOffExecution execution = start();
		for (long i = 1; i < Math.min(failures, MAX_DOUBLINGS); i++) {
			execution.nextBackOff();
		}
		return Duration.ofMillis(execution.nextBackOff());
	}

}
