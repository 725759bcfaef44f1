package dev.idempotent.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Holds a handler until the test lets it go.
 */
public final class Gate {

	private final CountDownLatch entered = new CountDownLatch(1);

	private final CountDownLatch open = new CountDownLatch(1);

	public void awaitEntry() throws InterruptedException {
		if (!this.entered.await(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
			throw new IllegalStateException("No handler came to the gate");
		}
	}

	public void open() {
		this.open.countDown();
	}

	public void pass() throws InterruptedException {
		this.entered.countDown();
		if (!this.open.await(Patience.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
			throw new IllegalStateException("Nobody opened the gate");
		}
	}

}
