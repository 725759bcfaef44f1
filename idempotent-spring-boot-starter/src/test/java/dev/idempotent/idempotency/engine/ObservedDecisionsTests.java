package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Decision;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyObserver.StoreResult;
import dev.idempotent.idempotency.IdempotencyObserver.StoreVerb;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.RecordingObserver.StoreCall;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Gate;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the decisions that an {@link IdempotencyObserver} sees.
 */
class ObservedDecisionsTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final StoredResponse RESPONSE = Samples.response("response");

	@Nested
	class UnderLease {

		private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

		private final FaultyStore store = new FaultyStore(new InMemoryIdempotencyStore(new ManualClock()));

		private final RecordingObserver observer = new RecordingObserver();

		private final IdempotencyEngine engine = engine(OnStoreFailure.REJECT);

		private final IdempotencyEngine proceedingGuard = engine(OnStoreFailure.PROCEED);

		private final IdempotencyKey key = Samples.key();

		@AfterEach
		void close() {
			this.store.mended();
			this.engine.close();
			this.proceedingGuard.close();
		}

		@Test
		void tellARunFromAReplayThatKnowsItsOrigin() {
			run(RESPONSE);
			assertThat(claim("request")).is(Samples.completed(RESPONSE));
			assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN, Outcome.REPLAYED);
			assertThat(this.observer.started()).containsExactly(Samples.operation());
			RunOrigin origin = Objects.requireNonNull(this.observer.decisions().get(1).origin());
			assertThat(origin.traceparent()).isEqualTo(TRACE);
			assertThat(origin.guarantee()).isEqualTo(Guarantee.LEASE);
			assertThat(origin.since()).isBefore(Instant.now().plusSeconds(1));
			assertThat(this.observer.decisions()).extracting(Decision::key).containsOnly(this.key);
		}

		@Test
		void tellARunWithoutAStoredResponseAndItsDuplicate() {
			run(StoredResponse.notKept());
			claim("request");
			assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN_NOT_KEPT, Outcome.NOT_KEPT);
		}

		@Test
		void tellADuplicateOfARunInProgressAndAnotherRequestWithItsKey() {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			claim("request");
			claim("another request");
			runner.release();
			assertThat(this.observer.outcomes()).containsExactly(Outcome.IN_PROGRESS, Outcome.MISMATCHED,
					Outcome.RELEASED);
		}

		@Test
		void areMadeOnceForAClaimThatIsSettledAgain() {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			runner.release();
			runner.release();
			runner.complete(RESPONSE);
			runner.settleUnknown();
			assertThat(this.observer.outcomes()).containsExactly(Outcome.RELEASED);
			assertThat(this.engine.running()).isZero();
		}

		@Test
		void areMadeOnceForADuplicateThatWaits() throws Exception {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			Gate secondClaim = this.store.gateBefore(Verb.CLAIM);
			CompletableFuture<Claim> waiting = CompletableFuture
				.supplyAsync(() -> claimant(this.engine, "request").claimOrWait(Duration.ofMinutes(1)));
			secondClaim.awaitArrival();
			secondClaim.open();
			runner.complete(RESPONSE);
			assertThat(waiting.get()).is(Samples.completed(RESPONSE));
			assertThat(this.observer.outcomes()).containsExactlyInAnyOrder(Outcome.RUN, Outcome.REPLAYED);
		}

		@Test
		void areMadeOnceForADuplicateThatIsRefusedAfterItsWait() {
			claimant(this.engine, "request").claim();
			assertThat(claimant(this.engine, "request").claimOrWait(Duration.ofMillis(1)))
				.isInstanceOf(Claim.Pending.class);
			assertThat(this.observer.outcomes()).containsExactly(Outcome.IN_PROGRESS);
		}

		@Test
		void tellAStoreThatIsUnreachableFromOneThatFails() {
			this.store.failingOnce(Fault.UNREACHABLE, Verb.CLAIM);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> claim("request"));
			this.store.failingOnce(Fault.BUG, Verb.CLAIM);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> claim("request"));
			assertThat(this.observer.outcomes()).containsExactly(Outcome.UNAVAILABLE, Outcome.FAILED);
			assertThat(this.observer.started()).isEmpty();
		}

		@Test
		void tellARunThatIsUnprotected() {
			this.store.failing(Fault.UNREACHABLE, Verb.values());
			Claimant runner = claimant(this.proceedingGuard, "request");
			assertThat(runner.claim()).isEqualTo(new Claim.Acquired());
			runner.complete(RESPONSE);
			assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN_UNPROTECTED);
		}

		@Test
		void tellARunWhoseOutcomeIsUnknown() {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			runner.settleUnknown();
			assertThat(this.observer.outcomes()).containsExactly(Outcome.UNKNOWN);
			assertThat(claim("request")).isInstanceOf(Claim.Pending.class);
		}

		@Test
		void awaitTheErrorPageOfARun() {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			runner.stopRenewal();
			assertThat(this.observer.decisions()).isEmpty();
			runner.complete(RESPONSE);
			assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN);
		}

		@Test
		void takeAsLongAsTheWork() {
			Claimant runner = claimant(this.engine, "request");
			runner.claim();
			long start = System.nanoTime();
			Duration work = Duration.ofMillis(2);
			while (System.nanoTime() - start < work.toNanos()) {
				Thread.onSpinWait();
			}
			runner.complete(RESPONSE);
			assertThat(this.observer.decisions().get(0).took()).isGreaterThanOrEqualTo(work);
		}

		private void run(StoredResponse response) {
			Claimant runner = claimant(this.engine, "request");
			assertThat(runner.claim()).isEqualTo(new Claim.Acquired());
			runner.complete(response);
		}

		private Claim claim(String request) {
			return claimant(this.engine, request).claim();
		}

		private Claimant claimant(IdempotencyEngine engine, String request) {
			return engine.claimant(Samples.operation(),
					RunIdentity.of(this.key, Samples.fingerprint(request), Duration.ofHours(1)), LEASE);
		}

		private IdempotencyEngine engine(OnStoreFailure onStoreFailure) {
			return new IdempotencyEngine(this.store, onStoreFailure, Duration.ofMinutes(10), PayloadEncryption.NONE,
					List.of(this.observer), () -> TRACE);
		}

	}

	@Nested
	class UnderTransaction {

		private static final Operation OPERATION = new Operation(Operation.Kind.METHOD, "sample",
				Guarantee.TRANSACTION);

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
			assertThatExceptionOfType(WorkRolledBackException.class)
				.isThrownBy(() -> claimant.commitAndComplete(RESPONSE));
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
			return this.engine.claimant(OPERATION,
					RunIdentity.of(key, Samples.fingerprint("request"), Duration.ofHours(1)), LEASE, this.database);
		}

	}

}
