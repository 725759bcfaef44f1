package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store, and whether it answers: told once per outage.
 */
final class GuardedStore {

	private static final Logger logger = LoggerFactory.getLogger(GuardedStore.class);

	private static final long PROBE_NANOS = Duration.ofSeconds(1).toNanos();

	private final IdempotencyStore store;

	private final OnStoreFailure onFailure;

	private final AtomicBoolean down = new AtomicBoolean();

	private final AtomicLong nextProbe = new AtomicLong();

	GuardedStore(IdempotencyStore store, OnStoreFailure onFailure) {
		this.store = store;
		this.onFailure = onFailure;
	}

	IdempotencyStore store() {
		return this.store;
	}

	/**
	 * Tells whether duplicates are refused here before they come to a database.
	 */
	boolean keepsDuplicatesAway() {
		return !(this.store instanceof NoStore);
	}

	boolean isDispensable() {
		return this.onFailure == OnStoreFailure.PROCEED;
	}

	/**
	 * Tells whether the store is known to be down, so that whoever can do without it
	 * saves the time-out. Once a second the caller is told to try.
	 */
	boolean isSkipped() {
		if (!this.down.get()) {
			return false;
		}
		long now = System.nanoTime();
		long due = this.nextProbe.get();
		return now - due < 0 || !this.nextProbe.compareAndSet(due, now + PROBE_NANOS);
	}

	void answered() {
		if (this.down.get() && this.down.compareAndSet(true, false)) {
			logger.info("The idempotency store ({}) answers again", this.store.describe());
		}
	}

	void failed(IdempotencyStoreUnavailableException ex) {
		this.nextProbe.set(System.nanoTime() + PROBE_NANOS);
		if (this.down.compareAndSet(false, true)) {
			logger.warn(
					"The idempotency store ({}) is unreachable; until it answers, requests with a key {}, and under "
							+ "Guarantee.TRANSACTION the database decides alone",
					this.store.describe(), isDispensable() ? "run unprotected (idempotent.on-store-failure=proceed)"
							: "are refused with 503 (idempotent.on-store-failure=reject)",
					ex);
		}
	}

}
