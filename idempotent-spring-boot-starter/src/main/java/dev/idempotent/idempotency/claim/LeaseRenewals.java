package dev.idempotent.idempotency.claim;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.idempotency.IdempotencyStore.Renewal;

/**
 * Renews the leases of all claims of this process. Most are settled before they are due,
 * so none has a timer of its own: a scan runs when the first of them is due, and none
 * without claims. A store in a database renews the leases that are due at about the same
 * time in one batch, which takes one connection.
 */
final class LeaseRenewals {

	private static final long NEVER = Long.MAX_VALUE;

	private final BackgroundWork background;

	private final Duration maxRun;

	private final Set<LeaseRenewal> open = ConcurrentHashMap.newKeySet();

	private final ReentrantLock batches = new ReentrantLock();

	private final ReentrantLock scans = new ReentrantLock();

	/**
	 * All times are relative to this one, so that they can be compared.
	 */
	private final long origin = System.nanoTime();

	private volatile long nextScan = NEVER;

	private Future<?> scheduledScan = CompletableFuture.completedFuture(null);

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
			renewal.setDue(now() + renewal.period());
			this.open.add(renewal);
			scanBy(renewal.due());
			return () -> this.open.remove(renewal);
		});
	}

	/**
	 * Schedules a scan unless an earlier one is due.
	 */
	private void scanBy(long due) {
		if (due >= this.nextScan) {
			return;
		}
		this.scans.lock();
		try {
			if (due < this.nextScan) {
				this.scheduledScan.cancel(false);
				this.scheduledScan = this.background.after(due - now(), this::scan);
				this.nextScan = due;
			}
		}
		finally {
			this.scans.unlock();
		}
	}

	/**
	 * Starts the renewals that are due, and schedules the next scan.
	 */
	private void scan() {
		// Before the claims are read: one that begins meanwhile is either read or
		// schedules a scan itself.
		forgetScan();
		long now = now();
		long next = NEVER;
		try {
			for (LeaseRenewal renewal : this.open) {
				boolean due = renewal.isDue(now);
				if (due) {
					renewal.setDue(now + renewal.period());
				}
				next = Math.min(next, renewal.due());
				if (due) {
					Future<?> unused = this.background.after(0, () -> renew(renewal));
				}
			}
		}
		finally {
			scanBy(next);
		}
	}

	/**
	 * Waits for the thread that has scheduled this scan, which sets the time afterwards.
	 */
	private void forgetScan() {
		this.scans.lock();
		try {
			this.nextScan = NEVER;
		}
		finally {
			this.scans.unlock();
		}
	}

	private long now() {
		return System.nanoTime() - this.origin;
	}

	private void renew(LeaseRenewal renewal) {
		// A store that times out may take longer than the time between two renewals.
		if (!renewal.begin()) {
			return;
		}
		try {
			if (!renewal.isShared() || !renewWithOthers(renewal)) {
				renewal.renew();
			}
		}
		finally {
			renewal.end(now() + renewal.period());
			if (this.open.contains(renewal)) {
				scanBy(renewal.due());
			}
		}
	}

	/**
	 * Renews a lease that is due together with those that will be due soon.
	 * @return {@code false} if the lease must be renewed alone
	 */
	private boolean renewWithOthers(LeaseRenewal due) {
		this.batches.lock();
		try {
			if (!due.isSoonDue()) {
				return true;
			}
			List<LeaseRenewal> soon = this.open.stream()
				.filter((renewal) -> renewal.isShared() && renewal.isSoonDue())
				.toList();
			Set<Renewal> renewed = due.store().renewAll(soon.stream().map(LeaseRenewal::step).toList());
			soon.stream().filter((renewal) -> renewed.contains(renewal.step())).forEach(LeaseRenewal::renewed);
			return !due.isSoonDue();
		}
		finally {
			this.batches.unlock();
		}
	}

}
