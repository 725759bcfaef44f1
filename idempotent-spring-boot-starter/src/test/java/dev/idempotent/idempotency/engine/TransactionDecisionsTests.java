package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.RecordingObserver.StoreCall;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the decisions that an {@link IdempotencyObserver} sees under
 * {@link Guarantee#TRANSACTION}.
 */
class TransactionDecisionsTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final StoredResponse RESPONSE = Samples.response("response");

	private static final Operation OPERATION = new Operation(Operation.Kind.METHOD, "sample", Guarantee.TRANSACTION);

	private final FaultyStore store = new FaultyStore(new InMemoryIdempotencyStore(new ManualClock()));

	private final PresetTransactions database = new PresetTransactions();

	private final RecordingObserver observer = new RecordingObserver();

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT,
			Duration.ofMinutes(10), PayloadEncryption.NONE, List.of(this.observer), () -> null);

	private final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
		assertThat(this.engine.running()).isZero();
	}

	@Test
	void tellARunFromItsReplay() {
		acquired().commitAndComplete(RESPONSE);
		assertThat(claimant().claim()).is(Samples.completed(RESPONSE));
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN, Outcome.REPLAYED);
		assertThat(this.observer.decisions().get(1).origin()).isNotNull()
			.satisfies((origin) -> assertThat(origin.guarantee()).isEqualTo(Guarantee.TRANSACTION));
	}

	@Test
	void tellAReplayFromTheDatabase() {
		acquired().commitAndComplete(RESPONSE);
		this.database.answer = PresetTransactions.completed(RESPONSE, LEASE);
		IdempotencyKey other = Samples.key();
		assertThat(claimant(other).claim()).is(Samples.completed(RESPONSE));
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN, Outcome.REPLAYED);
		assertThat(this.observer.decisions().get(1).origin()).isNotNull();
	}

	@Test
	void areProtectedByTheDatabaseWhileTheStoreIsUnreachable() {
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		acquired().commitAndComplete(RESPONSE);
		TransactionalClaimant skipping = claimant(Samples.key());
		skipping.claim();
		skipping.commitAndComplete(RESPONSE);
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN, Outcome.RUN);
	}

	@Test
	void tellARunThatWasRolledBack() {
		TransactionalClaimant claimant = acquired();
		claimant.rollback();
		claimant.release();
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RELEASED);
	}

	@Test
	void tellAResponseThatIsStoredAfterTheRollback() {
		TransactionalClaimant claimant = acquired();
		claimant.rollback();
		claimant.completeAfterRollback(RESPONSE);
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN);
	}

	@Test
	void tellTheResponseOfAnotherRunFoundAfterTheRollback() {
		TransactionalClaimant claimant = acquired();
		claimant.rollback();
		this.database.answer = PresetTransactions.completed(Samples.response("another"), LEASE);
		assertThat(claimant.completeAfterRollback(RESPONSE)).is(Samples.completed(Samples.response("another")));
		assertThat(this.observer.outcomes()).containsExactly(Outcome.REPLAYED);
	}

	@Test
	void tellARolledBackRunWhoseResponseTheDatabaseDoesNotStore() {
		TransactionalClaimant claimant = acquired();
		claimant.rollback();
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant.completeAfterRollback(RESPONSE));
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RELEASED);
	}

	@Test
	void tellACommitThatFailed() {
		TransactionalClaimant claimant = acquired();
		this.database.failsToCommit = true;
		assertThatExceptionOfType(WorkRolledBackException.class).isThrownBy(() -> claimant.commitAndComplete(RESPONSE));
		assertThat(this.observer.decisions()).isEmpty();
		claimant.release();
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RELEASED);
	}

	@Test
	void tellACommitWhoseReplyWasLost() {
		TransactionalClaimant claimant = acquired();
		this.database.losesReplyToCommit = true;
		assertThat(claimant.commitAndComplete(RESPONSE)).isEqualTo(RESPONSE);
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN);
	}

	@Test
	void tellACommitWithoutAStoredResponseWhoseReplyWasLost() {
		TransactionalClaimant claimant = acquired();
		this.database.losesReplyToCommit = true;
		claimant.commitAndComplete(StoredResponse.notKept());
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN_NOT_KEPT);
	}

	@Test
	void tellACommitWhoseOutcomeIsUnknown() {
		TransactionalClaimant claimant = acquired();
		this.database.losesReplyToCommit = true;
		this.database.deadConnections = Integer.MAX_VALUE;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant.commitAndComplete(RESPONSE));
		assertThat(this.observer.outcomes()).containsExactly(Outcome.UNKNOWN);
	}

	@Test
	void tellTheUnknownOutcomeOfACallersTransaction() {
		TransactionalClaimant claimant = acquired();
		claimant.commit(RESPONSE);
		claimant.settleUnknown();
		assertThat(this.observer.outcomes()).containsExactly(Outcome.UNKNOWN);
	}

	@Test
	void tellADuplicateThatTheDatabaseRefuses() {
		this.database.answer = new Claim.Pending(LEASE);
		claimant().claim();
		this.database.answer = new Claim.Mismatched(null);
		claimant().claim();
		assertThat(this.observer.outcomes()).containsExactly(Outcome.IN_PROGRESS, Outcome.MISMATCHED);
	}

	@Test
	void tellADatabaseThatIsUnreachable() {
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> claimant().claim());
		assertThat(this.observer.outcomes()).containsExactly(Outcome.UNAVAILABLE);
		assertThat(this.observer.storeCalls()).containsExactly(
				new StoreCall("FaultyStore", StoreVerb.CLAIM, StoreResult.ANSWERED),
				new StoreCall("Database", StoreVerb.CLAIM, StoreResult.UNAVAILABLE),
				new StoreCall("FaultyStore", StoreVerb.RELEASE, StoreResult.ANSWERED));
	}

	private TransactionalClaimant acquired() {
		TransactionalClaimant claimant = claimant();
		assertThat(claimant.claim()).isEqualTo(new Claim.Acquired());
		return claimant;
	}

	private TransactionalClaimant claimant() {
		return claimant(this.key);
	}

	private TransactionalClaimant claimant(IdempotencyKey key) {
		return this.engine.claimant(OPERATION, key, Samples.fingerprint("request"), LEASE, Duration.ofHours(1),
				this.database);
	}

}
