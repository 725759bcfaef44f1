package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;

/**
 * A request for a key that a store in front may refuse, and on which the database
 * decides. Belongs to one thread: the one that the transaction is bound to.
 */
final class DatabaseClaimant {

	private final IdempotencyGuard guard;

	private final IdempotencyTransactions transactions;

	private ClaimRequest request;

	private LeaseClaimant front;

	private @Nullable IdempotencyTransaction open;

	private boolean deciding;

	private boolean provisional;

	DatabaseClaimant(IdempotencyGuard guard, ClaimRequest request, IdempotencyTransactions transactions) {
		this.guard = guard;
		this.request = request;
		this.front = guard.front(request);
		this.transactions = transactions;
	}

	ClaimRequest request() {
		return this.request;
	}

	IdempotencyTransactions transactions() {
		return this.transactions;
	}

	Claim claim() {
		Claim claim = this.front.claim();
		return claim.fold((acquired) -> decide(), (pending) -> isOverdue(pending) ? lookUp(pending) : claim,
				(completed) -> claim, (mismatched) -> claim);
	}

	Claim claimOrWait(Duration patience) {
		return this.guard.running().await(this.request.key(), claim(), this::claimAgain, patience);
	}

	/**
	 * Claims the key in a transaction that stays open if it was acquired.
	 * @param contended whether nothing in front keeps duplicates away
	 */
	Claim askDatabase(boolean contended) {
		try {
			IdempotencyTransaction begun = begin(contended);
			this.provisional = begun.isProvisional();
			Claim claim = begun.claim();
			this.guard.databaseOutage().end();
			if (claim.isAcquired()) {
				this.open = begun;
			}
			else {
				tellFront(claim);
				endDeciding();
			}
			return claim;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			this.guard.databaseOutage().note(ex);
			release();
			throw ex;
		}
		catch (RuntimeException | Error ex) {
			release();
			throw ex;
		}
	}

	/**
	 * A store in front must not replay what a test will undo: there the database is asked
	 * again.
	 */
	void completeInFront(StoredResponse response) {
		if (this.provisional) {
			this.front.release();
		}
		else {
			this.front.complete(response);
		}
	}

	void tellFront(Claim onRecord) {
		Claim.Completed completed = onRecord.<Claim.@Nullable Completed, RuntimeException>fold((acquired) -> null,
				(pending) -> null, (kept) -> kept, (mismatched) -> null);
		if (completed != null && !this.provisional) {
			this.front.complete(completed.response(), completed.remainingRetention());
		}
		else {
			this.front.release();
		}
	}

	void release() {
		this.front.release();
		endDeciding();
	}

	void stopRenewal() {
		this.front.stopRenewal();
		endDeciding();
	}

	void endDeciding() {
		if (this.deciding) {
			this.deciding = false;
			this.guard.deciding().remove(this.request.key());
		}
	}

	boolean isOpen() {
		return this.open != null;
	}

	IdempotencyTransaction openTransaction() {
		if (this.open == null) {
			throw new IllegalStateException("No transaction is open");
		}
		return this.open;
	}

	IdempotencyTransaction close() {
		IdempotencyTransaction closed = openTransaction();
		this.open = null;
		return closed;
	}

	/**
	 * A claimant in front settles its claim but once.
	 */
	private Claim claimAgain() {
		this.request = this.request.withNewToken();
		this.front = this.guard.front(this.request);
		return claim();
	}

	private Claim decide() {
		if (!this.guard.deciding().add(this.request.key())) {
			this.front.release();
			return new Claim.Pending(this.request.lease());
		}
		this.deciding = true;
		return askDatabase(!this.front.isGrantedByStore());
	}

	private IdempotencyTransaction begin(boolean contended) {
		return this.transactions.begin(this.request.key(), this.request.fingerprint(), this.request.token(),
				this.request.lease(), contended);
	}

	/**
	 * An owner that lives renews its lease long before half of it is gone.
	 */
	private boolean isOverdue(Claim.Pending pending) {
		return pending.remainingLease().compareTo(this.request.lease().dividedBy(2)) < 0;
	}

	private Claim lookUp(Claim.Pending pending) {
		try {
			Claim found = this.transactions.find(this.request.key(), this.request.fingerprint());
			return (found != null) ? found : pending;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			return pending;
		}
	}

}
