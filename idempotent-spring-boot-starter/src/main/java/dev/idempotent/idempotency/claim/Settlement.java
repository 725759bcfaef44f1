package dev.idempotent.idempotency.claim;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Whether a claim has been completed or released. Until then its lease is renewed; a
 * renewal that is under way never follows a settlement, or it would take the key back.
 */
final class Settlement {

	private final ReentrantLock lock = new ReentrantLock();

	private boolean settled;

	private @Nullable Runnable stopRenewal;

	/**
	 * Renews from now on until it is settled.
	 * @param begin begins to renew and returns what ends that
	 */
	void renewBy(Supplier<Runnable> begin) {
		whileOpen(() -> this.stopRenewal = begin.get());
	}

	/**
	 * Takes a step unless it is settled.
	 */
	void whileOpen(Runnable step) {
		this.lock.lock();
		try {
			if (!this.settled) {
				step.run();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Settles by a step, once, if the store carries it out. The lease is renewed further
	 * while the store is unreachable.
	 */
	void settleBy(Runnable step) {
		whileOpen(() -> {
			try {
				step.run();
			}
			catch (IdempotencyStoreUnavailableException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				cancelRenewal();
				throw ex;
			}
			this.settled = true;
			cancelRenewal();
		});
	}

	/**
	 * Leaves it open for a settlement yet to come.
	 */
	void stopRenewal() {
		whileOpen(this::cancelRenewal);
	}

	private void cancelRenewal() {
		if (this.stopRenewal != null) {
			this.stopRenewal.run();
		}
	}

}
