package dev.idempotent.concurrent;

import java.time.Duration;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Doubling waits with jitter, so that those who fail together do not retry together. Each
 * wait lies between half of its upper limit and the limit. Thread-safe.
 */
public final class Backoff {

	private static final int MAX_DOUBLINGS = 62;

	private final ExponentialBackOff waits = new ExponentialBackOff();

	/**
	 * Creates a backoff.
	 * @param first the upper limit of the first wait, doubled for each further one
	 * @param longest the upper limit of all waits
	 */
	public Backoff(Duration first, Duration longest) {
		long quarter = first.toMillis() / 4;
		this.waits.setInitialInterval(first.toMillis() - quarter);
		this.waits.setJitter(quarter);
		this.waits.setMultiplier(2);
		this.waits.setMaxInterval(longest.toMillis());
	}

	/**
	 * The wait after a number of consecutive failures.
	 * @param failures at least 1
	 * @return how long to wait
	 */
	public Duration after(long failures) {
		BackOffExecution execution = this.waits.start();
		for (long i = 1; i < Math.min(failures, MAX_DOUBLINGS); i++) {
			execution.nextBackOff();
		}
		return Duration.ofMillis(execution.nextBackOff());
	}

}
