package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver.Operation;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.idempotency.engine.IdempotencyTransactions.WorkRolledBackException;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link TransactionalClaimant} and the store in front of it.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionalClaimantTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final Operation OPERATION = new Operation(Operation.Kind.METHOD, "sample", Guarantee.TRANSACTION);

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

	private final FaultyStore store = new FaultyStore(this.memory);

	private final PresetTransactions database = new PresetTransactions();

	private final IdempotencyEngine engine = new IdempotencyEngine(this.store, OnStoreFailure.REJECT,
			Duration.ofMinutes(10));

	private final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
	}

	@Test
	void probesAnUnreachableStoreOncePerSecond() {
		// A completion in the background would end the outage.
		this.store.failing(Fault.UNREACHABLE, Verb.CLAIM, Verb.COMPLETE);
		long start = System.nanoTime();
		for (int i = 0; i < 200; i++) {
			TransactionalClaimant claimant = claimant(Samples.key());
			assertThat(claimant.claim()).isEqualTo(new Claim.Acquired());
			claimant.commitAndComplete(RESPONSE);
		}
		long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
		assertThat(this.store.calls().stream().filter((call) -> call.verb() == Verb.CLAIM))
			.hasSizeLessThan((int) (3 + seconds));
	}

	@Test
	void usesTheStoreAgainOnceItAnswers() {
		this.store.failing(Fault.UNREACHABLE, Verb.CLAIM);
		claimant(Samples.key()).claim();
		this.store.mended();
		await().untilAsserted(() -> {
			IdempotencyKey fresh = Samples.key();
			claimant(fresh).claim();
			assertThat(this.store.count(Verb.CLAIM, fresh)).isOne();
		});
	}

	@Test
	void completesTheKeyInTheStoreAfterTheCommit() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		claimant.commitAndComplete(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(this.database.begun).isOne();
		assertThat(this.database.contended).isFalse();
	}

	@Test
	void releasesTheKeyInTheStoreWhenTheDatabaseIsUnreachable() {
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant(this.key).claim());
		this.database.unreachable = false;
		assertThat(claimant(this.key).claim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void logsEachOutageOfTheDatabaseOnce(CapturedOutput output) {
		for (int outage = 0; outage < 2; outage++) {
			this.database.unreachable = true;
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(() -> claimant(Samples.key()).claim());
			}
			this.database.unreachable = false;
			claimant(Samples.key()).claim();
		}
		assertThat(output.getOut().split("The database is unreachable", -1)).hasSize(3);
		assertThat(output.getOut().split("The database is reachable again", -1)).hasSize(3);
	}

	@Test
	void completesTheKeyInTheStoreFromTheRecordInTheDatabase() {
		this.database.answer = PresetTransactions.completed(RESPONSE, LEASE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(this.database.begun).isOne();
	}

	@Test
	void claimsARunningKeyInTheDatabaseOnlyOnce() {
		TransactionalClaimant runner = claimant(this.key);
		runner.claim();
		this.memory.forget(this.key);
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
		assertThat(this.database.begun).isOne();
		runner.commitAndComplete(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void leavesTheKeyInTheStoreClaimedWhileTheOutcomeIsUnknown() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		this.database.failsToCommit = true;
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant.commitAndComplete(RESPONSE));
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void retriesTheInquiryOnADeadConnection() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		this.database.failsToCommit = true;
		this.database.deadConnections = 3;
		this.database.answer = PresetTransactions.completed(RESPONSE, LEASE);
		assertThat(claimant.commitAndComplete(RESPONSE)).isEqualTo(RESPONSE);
	}

	@Test
	void reportsARollbackOnlyIfTheDatabaseConfirmsIt() {
		TransactionalClaimant undone = claimant(this.key);
		undone.claim();
		this.database.failsToCommit = true;
		assertThatExceptionOfType(WorkRolledBackException.class).isThrownBy(() -> undone.commitAndComplete(RESPONSE));
		undone.release();

		TransactionalClaimant done = claimant(this.key);
		done.claim();
		this.database.answer = PresetTransactions.completed(RESPONSE, LEASE);
		assertThat(done.commitAndComplete(Samples.response("mine"))).isEqualTo(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void completesTheKeyInTheStoreOnceTheTransactionOfTheCallerHasEnded() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		claimant.commit(RESPONSE);
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
		claimant.complete(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void releasesTheKeyInTheStoreIfTheCommitIsNotConfirmed() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		claimant.commit(RESPONSE);
		this.database.confirms = false;
		claimant.complete(RESPONSE);
		assertThat(claimant(this.key).claim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void replaysTheRecordOfADatabaseThatMayHaveLostCommits() {
		run(RESPONSE);
		this.database.epoch = "2";
		StoredResponse onRecord = Samples.response("on record");
		this.database.onRecord = PresetTransactions.completed(onRecord, LEASE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(onRecord));
		assertThat(this.database.begun).isOne();
	}

	@Test
	void runsAgainWhatTheDatabaseHasLost() {
		run(RESPONSE);
		this.database.epoch = "2";
		TransactionalClaimant again = claimant(this.key);
		assertThat(again.claim()).isEqualTo(new Claim.Acquired());
		assertThat(this.database.contended).isTrue();
		assertThat(this.engine.running()).isOne();
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
		again.commitAndComplete(Samples.response("again"));
		assertThat(this.engine.running()).isZero();
		this.database.answer = PresetTransactions.completed(Samples.response("again"), LEASE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(Samples.response("again")));
		assertThat(this.database.begun).isEqualTo(3);
	}

	/**
	 * Rows that are deleted by hand do not change the epoch.
	 */
	@Test
	void forgetsTheResponseOfLostWorkThatIsDoneAgain() {
		run(RESPONSE);
		this.database.epoch = "not told lately";
		TransactionalClaimant again = claimant(this.key);
		again.claim();
		again.commitAndComplete(Samples.response("again"));
		this.database.epoch = "1";
		this.database.answer = PresetTransactions.completed(Samples.response("again"), LEASE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(Samples.response("again")));
	}

	@Test
	void freesTheKeyOfARunThatIsDoneAgainAndRolledBack() {
		run(RESPONSE);
		this.database.epoch = "2";
		for (int i = 0; i < 2; i++) {
			TransactionalClaimant again = claimant(this.key);
			assertThat(again.claim()).isEqualTo(new Claim.Acquired());
			again.rollback();
			again.release();
		}
		assertThat(this.engine.running()).isZero();
	}

	@Test
	void replaysNothingWhileNoDatabaseIsThere() {
		run(RESPONSE);
		this.database.epoch = "2";
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant(this.key).claim());
	}

	@Test
	void asksTheDatabaseForAResponseWhoseCommitFailed() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		this.database.losesReplyToCommit = true;
		claimant.commitAndComplete(RESPONSE);
		this.database.onRecord = this.database.answer;
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant(this.key).claim());
	}

	@Test
	void replaysWhatTheStoreAloneHasDecidedBefore() {
		Claimant leased = this.engine.claimant(Samples.operation(),
				RunIdentity.of(this.key, Samples.fingerprint("request"), LEASE), LEASE);
		leased.claim();
		leased.complete(RESPONSE);
		this.database.unreachable = true;
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	private void run(StoredResponse response) {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		claimant.commitAndComplete(response);
		assertThat(claimant(this.key).claim()).is(Samples.completed(response));
	}

	private TransactionalClaimant claimant(IdempotencyKey claimed) {
		return this.engine.claimant(OPERATION, RunIdentity.of(claimed, Samples.fingerprint("request"), LEASE), LEASE,
				this.database);
	}

}
