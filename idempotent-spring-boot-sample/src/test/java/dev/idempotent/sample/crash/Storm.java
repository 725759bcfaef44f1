package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The time in which faults happen, and the calm after it, in which every key must be
 * answered.
 */
final class Storm {

	private static final Duration CALM = Duration.ofSeconds(20);

	private final CountDownLatch over = new CountDownLatch(1);

	private final AtomicReference<String> wish = new AtomicReference<>("");

	private volatile long calmSince = Long.MAX_VALUE;

	boolean isOver() {
		return this.over.getCount() == 0;
	}

	/**
	 * Ends the storm: no new fault begins.
	 */
	void end() {
		this.over.countDown();
	}

	/**
	 * Records that everything is up again and stays up.
	 */
	void calm() {
		this.calmSince = System.currentTimeMillis();
	}

	/**
	 * When everything was up, in milliseconds of this machine's clock.
	 */
	long calmSince() {
		return this.calmSince;
	}

	/**
	 * Whether it is too late for an answer.
	 */
	boolean isPastCalm() {
		return System.currentTimeMillis() - CALM.toMillis() > this.calmSince;
	}

	/**
	 * Waits for some time, or until the storm ends.
	 * @return whether the storm goes on
	 */
	boolean lasts(Duration time) {
		try {
			return !this.over.await(time.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	boolean lasts(Random random, int minMillis, int maxMillis) {
		return lasts(Duration.ofMillis(random.nextInt(minMillis, maxMillis)));
	}

	/**
	 * Requests chaos in the next request that a customer sends.
	 */
	void wish(String chaos) {
		this.wish.set(chaos);
	}

	/**
	 * Takes the requested chaos, or nothing.
	 */
	String takeWish() {
		return this.wish.getAndSet("");
	}

}
