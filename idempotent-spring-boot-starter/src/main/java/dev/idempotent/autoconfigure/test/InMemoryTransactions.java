package dev.idempotent.autoconfigure.test;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyTransactions;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.IdempotencyTransactionSource;
import org.jspecify.annotations.Nullable;

/**
 * Transactions of a test without a database, in which nothing is rolled back. The store
 * in front of them, which has claimed each key before, decides alone.
 */
final class InMemoryTransactions implements IdempotencyTransactionSource, IdempotencyTransactions {

	/**
	 * Called with whether the open transaction commits.
	 */
	private static final ThreadLocal<@Nullable List<Consumer<Boolean>>> COMPLETIONS = new ThreadLocal<>();

	private final IdempotencyStore store;

	InMemoryTransactions(IdempotencyStore store) {
		this.store = store;
	}

	@Override
	public IdempotencyTransactions transactionsOf(Class<?> type, Method method) {
		return this;
	}

	@Override
	public IdempotencyTransactions joiningTransactionsOf(Class<?> type, Method method) {
		return this;
	}

	@Override
	public IdempotencyTransactions joiningTransactions(String described) {
		return this;
	}

	@Override
	public boolean isTransactional() {
		return false;
	}

	@Override
	public Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			boolean contended) {
		List<Consumer<Boolean>> completions = new ArrayList<>();
		COMPLETIONS.set(completions);
		return new Transaction() {

			@Override
			public Claim outcome() {
				return new Claim.Acquired();
			}

			@Override
			public boolean isRollbackOnly() {
				return false;
			}

			@Override
			public void commit(StoredResponse response, Duration retention) {
				end(true);
			}

			@Override
			public boolean isConfirmed() {
				return true;
			}

			@Override
			public void rollback() {
				end(false);
			}

			private void end(boolean commits) {
				COMPLETIONS.remove();
				completions.forEach((completion) -> completion.accept(commits));
			}

		};
	}

	@Override
	public Claim completeAtOnce(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		Claim claim = new Claim.Acquired();
		while (claim.isAcquired() && !this.store.complete(key, fingerprint, token, response, retention)) {
			claim = this.store.claim(key, fingerprint, token, retention);
		}
		return claim;
	}

	@Override
	public @Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		return null;
	}

	@Override
	public boolean isCurrent(@Nullable String epoch) {
		return true;
	}

	@Override
	public Claim completeIfFree(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		Claim claim = this.store.claim(key, fingerprint, token, retention);
		if (claim.isAcquired()) {
			Objects.requireNonNull(COMPLETIONS.get(), "No transaction is open").add((commits) -> {
				if (commits) {
					this.store.complete(key, fingerprint, token, response, retention);
				}
				else {
					this.store.release(key, token);
				}
			});
		}
		return claim;
	}

	@Override
	public boolean isSameResource(IdempotencyTransactions other) {
		return other == this;
	}

}
