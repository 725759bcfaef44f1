package dev.idempotent.idempotency.claim;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import dev.idempotent.idempotency.ClaimedKey;
import dev.idempotent.idempotency.IdempotencyStore;

/**
 * The claims that are renewed. Where a step of the store costs a connection, those that
 * are due at about the same time are renewed in one.
 */
final class LeaseRenewals {

	private final Set<LeaseRenewal> open = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	void add(LeaseRenewal renewal) {
		this.open.add(renewal);
	}

	void remove(LeaseRenewal renewal) {
		this.open.remove(renewal);
	}

	/**
	 * Renews a claim that is due, and with it those that will be soon.
	 * @return {@code false} if it has to be renewed by itself
	 */
	boolean renewWithOthers(LeaseRenewal due, IdempotencyStore store) {
		this.lock.lock();
		try {
			if (!due.isSoonDue()) {
				return true;
			}
			List<LeaseRenewal> soon = this.open.stream().filter(LeaseRenewal::isSoonDue).toList();
			Set<ClaimedKey> renewed = store.renewTogether(soon.stream().map(LeaseRenewal::held).toList());
			soon.stream().filter((renewal) -> renewed.contains(renewal.held())).forEach(LeaseRenewal::renewed);
			return !due.isSoonDue();
		}
		finally {
			this.lock.unlock();
		}
	}

}
