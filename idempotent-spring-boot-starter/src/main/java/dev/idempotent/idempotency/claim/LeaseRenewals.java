package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.idempotency.IdempotencyStore.Renewal;

/**
 * Renews the leases of all claims of this process. A store in a database renews those
 * that are due at about the same time in one batch, which takes one connection.
 */
final class LeaseRenewals {

	private final BackgroundWork background;

	private final Duration maxRun;

	private final Set<LeaseRenewal> shared = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	LeaseRenewals(BackgroundWork background, Duration maxRun) {
		this.background = background;
		this.maxRun = maxRun;
	}

	/**
	 * Renews the lease of a claim until it is settled.
	 * @param overdue called once the claim has been held for the maximum duration of a
	 * run
	 */
	void begin(ClaimRequest request, GuardedStore store, Settlement settlement, Runnable overdue) {
		settlement.renewBy(() -> {
			LeaseRenewal renewal = new LeaseRenewal(request, store, settlement, this.maxRun, overdue);
			if (renewal.isShared()) {
				this.shared.add(renewal);
			}
			Future<?> schedule = this.background.every(renewal.period(), () -> renew(renewal, store));
			return () -> {
				schedule.cancel(false);
				this.shared.remove(renewal);
			};
		});
	}

	private void renew(LeaseRenewal due, GuardedStore store) {
		if (!due.isShared() || !renewWithOthers(due, store)) {
			due.renew();
		}
	}

	/**
	 * Renews a lease that is due together with those that will be due soon.
	 * @return {@code false} if the lease must be renewed alone
	 */
	private boolean renewWithOthers(LeaseRenewal due, GuardedStore store) {
		this.lock.lock();
		try {
			if (!due.isSoonDue()) {
				return true;
			}
			List<LeaseRenewal> soon = this.shared.stream().filter(LeaseRenewal::isSoonDue).toList();
			Set<Renewal> renewed = store.renewAll(soon.stream().map(LeaseRenewal::step).toList());
			soon.stream().filter((renewal) -> renewed.contains(renewal.step())).forEach(LeaseRenewal::renewed);
			return !due.isSoonDue();
		}
		finally {
			this.lock.unlock();
		}
	}

}
