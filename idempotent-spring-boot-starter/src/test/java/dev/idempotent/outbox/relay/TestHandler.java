package dev.idempotent.outbox.relay;

import java.time.Duration;

/**
 * What the handlers of tests have in common.
 */
abstract class TestHandler implements EventHandler {

	@Override
	public int concurrency() {
		return 8;
	}

	@Override
	public int attempts() {
		return 10;
	}

	@Override
	public Duration maxBackoff() {
		return Duration.ofSeconds(1);
	}

	@Override
	public boolean removesEvents() {
		return false;
	}

	@Override
	public Thread newThread(Runnable work) {
		return new Thread(work);
	}

}
