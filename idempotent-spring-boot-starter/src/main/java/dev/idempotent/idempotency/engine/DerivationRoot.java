package dev.idempotent.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The key from which a run whose own key is a fingerprint derives the keys of its calls
 * and sagas. A request and its retries have the same one, and an equal request after the
 * retention has another one.
 * <p>
 * The first run that derives a key records its token, for the retention from then on.
 * Later runs read it, and extend the record when they derive their first key. Each run
 * extends it when it fails. The response is kept for the retention from the end of the
 * last run, and so for longer: a run of the next request begins after that, and finds no
 * record. A run that derives its first key after its response was stored records it for
 * the rest of the retention only.
 */
final class DerivationRoot {

	private static final Logger logger = LoggerFactory.getLogger(DerivationRoot.class);

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private final IdempotencyKey run;

	private final ClaimRequest record;

	private final Records records;

	/**
	 * Whether the run still owns its key.
	 */
	private BooleanSupplier current = () -> true;

	/**
	 * Whether the run has begun without the store.
	 */
	private BooleanSupplier unprotected = () -> false;

	private @Nullable IdempotencyKey key;

	private @Nullable String token;

	private @Nullable Long endedAt;

	/**
	 * Creates the root of a run under a lease, recorded in the store.
	 * @param run the key of the run
	 * @param record the record of the root
	 */
	DerivationRoot(IdempotencyKey run, ClaimRequest record, ObservedStore store) {
		this(run, record, (request, token, retention) -> complete(store, request, token, retention));
	}

	/**
	 * Creates the root of a run under a transaction, recorded in its database.
	 * @param run the key of the run
	 * @param record the record of the root
	 */
	DerivationRoot(IdempotencyKey run, ClaimRequest record, OperationTransactions transactions) {
		this(run, record,
				(request, token, retention) -> transactions.completeAtOnce(request, token, form(token), retention));
	}

	private DerivationRoot(IdempotencyKey run, ClaimRequest record, Records records) {
		this.run = run;
		this.record = record;
		this.records = records;
	}

	/**
	 * Binds the root to a run under a lease.
	 * @param ownsKey whether the run still owns its key
	 * @param withoutStore whether the run has begun without the store
	 */
	void bind(BooleanSupplier ownsKey, BooleanSupplier withoutStore) {
		this.current = ownsKey;
		this.unprotected = withoutStore;
	}

	/**
	 * The key under which the root of a run is recorded.
	 */
	static IdempotencyKey recordOf(IdempotencyKey run) {
		return IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "first run", run.digest(), "");
	}

	private static Claim complete(ObservedStore store, ClaimRequest record, String token, Duration retention) {
		ClaimRequest request = record.withToken(token);
		Claim claim = new Claim.Acquired();
		while (claim.isAcquired() && !store.complete(request, form(token), retention)) {
			// Acquired if the record has just expired.
			claim = store.claim(request);
		}
		return claim;
	}

	private static StoredResponse form(String token) {
		return StoredResponse.of(token.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Returns the key, which is the same for the whole run.
	 * @throws IdempotencyPendingException if another run owns the key by now, or is
	 * recording the root
	 * @throws IdempotencyStoreUnavailableException if the records are unreachable, unless
	 * the run has begun without the store
	 */
	synchronized IdempotencyKey get() {
		if (this.key == null) {
			try {
				this.token = record();
				this.key = IdempotencyKey.of(IdempotencyKey.Kind.STEP, "", "root", this.run.digest(), this.token);
			}
			catch (IdempotencyStoreUnavailableException ex) {
				if (!this.unprotected.getAsBoolean()) {
					throw ex;
				}
				// The same one in each run of the outage.
				this.key = this.run;
			}
		}
		return this.key;
	}

	/**
	 * Records the token of this run, or extends the record of an earlier one.
	 * @return the recorded token
	 */
	private String record() {
		if (this.endedAt == null && !this.current.getAsBoolean()) {
			throw new IdempotencyPendingException(this.run, this.record.lease());
		}
		String recorded = this.record.token();
		Claim claim = this.records.complete(this.record, recorded, left());
		while (claim instanceof Claim.Completed earlier) {
			recorded = new String(earlier.response().bytes(), StandardCharsets.UTF_8);
			claim = this.records.complete(this.record, recorded, left());
		}
		if (claim.isAcquired()) {
			return recorded;
		}
		throw new IdempotencyPendingException(this.run,
				(claim instanceof Claim.Pending pending) ? pending.remainingLease() : Duration.ZERO);
	}

	private Duration left() {
		if (this.endedAt == null) {
			return this.record.retention();
		}
		Duration left = this.record.retention().minusNanos(System.nanoTime() - this.endedAt);
		return (left.compareTo(SHORTEST) < 0) ? SHORTEST : left;
	}

	/**
	 * Reports that the response of the run is about to be stored.
	 */
	synchronized void runEnds() {
		this.endedAt = System.nanoTime();
	}

	/**
	 * Extends the record of a run that fails, before its key is free. If another run has
	 * taken the key over, the record could end after the response of that one. Never
	 * throws.
	 */
	synchronized void runFails() {
		if (this.token != null && this.endedAt == null) {
			try {
				if (this.current.getAsBoolean()) {
					this.records.complete(this.record, this.token, left());
				}
			}
			catch (RuntimeException ex) {
				logger.debug("The root of key {} could not be kept for longer", this.run, ex);
			}
		}
	}

	/**
	 * The records of roots.
	 */
	@FunctionalInterface
	private interface Records {

		/**
		 * Completes the record unless another token has completed it. What the token has
		 * completed is kept for at least the retention from now on.
		 * @return {@link Claim.Acquired}, or the outcome on record
		 */
		Claim complete(ClaimRequest record, String token, Duration retention);

	}

}
