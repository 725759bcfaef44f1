package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The time in which things go wrong, and the calm after it in which every key has to find
 * its answer.
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
	 * Lets nothing new go wrong.
	 */
	void end() {
		this.over.countDown();
	}

	/**
	 * Notes that everything is up again, for good.
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
	 * Lets some time pass, less if the storm ends.
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
	 * Asks for chaos in the next request that a customer sends.
	 */
	void wish(String chaos) {
		this.wish.set(chaos);
	}

	/**
	 * Takes what was wished for, or nothing.
	 */
	String takeWish() {
		return this.wish.getAndSet("");
	}

}
