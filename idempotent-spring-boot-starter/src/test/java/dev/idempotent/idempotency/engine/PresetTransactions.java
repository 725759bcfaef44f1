package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * A database with preset outcomes.
 */
final class PresetTransactions implements IdempotencyTransactions {

	int begun;

	boolean contended;

	boolean unreachable;

	int deadConnections;

	boolean failsToCommit;

	boolean losesReplyToCommit;

	Claim answer = new Claim.Acquired();

	String epoch = "1";

	boolean confirms = true;

	@Nullable Claim onRecord;

	final FaultyStore records = new FaultyStore(new InMemoryIdempotencyStore());

	/**
	 * A record with the stored form of a response.
	 */
	static Claim.Completed completed(StoredResponse response, Duration retention) {
		ClaimRequest run = ClaimRequest.of(Samples.key(), Samples.fingerprint("request"), Guarantee.TRANSACTION, null,
				retention, retention, Samples.run(), null);
		return new Claim.Completed(new ResponseEnvelope(PayloadEncryption.NONE).encrypt(run, response), retention);
	}

	@Override
	public Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
			boolean contended) {
		if (this.unreachable || this.deadConnections-- > 0) {
			throw new IdempotencyStoreUnavailableException("Preset to be unreachable", null);
		}
		this.begun++;
		this.contended = contended;
		return new Open(this.answer);
	}

	@Override
	public @Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
		if (this.unreachable) {
			throw new IdempotencyStoreUnavailableException("Preset to be unreachable", null);
		}
		return this.onRecord;
	}

	@Override
	public boolean isCurrent(@Nullable String other) {
		return this.epoch.equals(other);
	}

	@Override
	public Claim completeIfFree(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		return new Claim.Acquired();
	}

	@Override
	public boolean isSameResource(IdempotencyTransactions other) {
		return other == this;
	}

	@Override
	public Claim completeAtOnce(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
			Duration retention) {
		Claim claim = new Claim.Acquired();
		while (claim.isAcquired() && !this.records.complete(key, fingerprint, token, response, retention)) {
			claim = this.records.claim(key, fingerprint, token, retention);
		}
		return claim;
	}

	private final class Open implements Transaction {

		private final Claim claim;

		Open(Claim claim) {
			this.claim = claim;
		}

		@Override
		public Claim outcome() {
			return this.claim;
		}

		@Override
		public String epoch() {
			return PresetTransactions.this.epoch;
		}

		@Override
		public boolean isRollbackOnly() {
			return false;
		}

		@Override
		public void commit(StoredResponse response, Duration retention) {
			if (PresetTransactions.this.losesReplyToCommit) {
				PresetTransactions.this.answer = new Claim.Completed(response, retention);
				throw new IllegalStateException("Preset to lose the reply");
			}
			if (PresetTransactions.this.failsToCommit) {
				throw new IllegalStateException("Preset to fail");
			}
		}

		@Override
		public boolean isConfirmed() {
			return PresetTransactions.this.confirms;
		}

		@Override
		public void rollback() {
		}

	}

}
