package dev.idempotent.idempotency.claim;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Whether a claim has been completed or released. Until then its lease is renewed. The
 * two exclude each other: a renewal after the settlement would claim the key again.
 */
final class Settlement {

	private final ReentrantLock lock = new ReentrantLock();

	private boolean settled;

	private @Nullable Runnable stopRenewal;

	/**
	 * Starts the renewals, which end with the settlement.
	 * @param begin starts them and returns the step that stops them
	 */
	void renewBy(Supplier<Runnable> begin) {
		whileOpen(() -> this.stopRenewal = begin.get());
	}

	/**
	 * Runs a step unless the claim is settled.
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
	 * Settles the claim once, if the step succeeds. While the store is unreachable the
	 * renewals go on.
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
	 * Stops the renewals without settling the claim.
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
