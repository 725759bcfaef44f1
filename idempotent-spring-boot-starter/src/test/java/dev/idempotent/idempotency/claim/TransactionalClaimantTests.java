package dev.idempotent.idempotency.claim;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.claim.FaultyStore.Fault;
import dev.idempotent.idempotency.claim.FaultyStore.Verb;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.InMemoryIdempotencyStore;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.claim.IdempotencyTransactions.Transaction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link TransactionalClaimant}: what becomes of the store in front.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionalClaimantTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

	private final FaultyStore front = new FaultyStore(this.memory);

	private final Transactions database = new Transactions();

	private final IdempotencyGuard guard = new IdempotencyGuard(this.front, OnStoreFailure.REJECT,
			Duration.ofMinutes(10));

	private final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		this.front.mended();
		this.guard.close();
	}

	@Test
	void asksAStoreThatDoesNotAnswerOnceInAWhile() {
		this.front.failing(Fault.UNREACHABLE, Verb.CLAIM);
		long start = System.nanoTime();
		for (int i = 0; i < 200; i++) {
			TransactionalClaimant claimant = claimant(Samples.key());
			assertThat(claimant.claim()).isEqualTo(new Claim.Acquired());
			claimant.commitAndComplete(RESPONSE);
		}
		long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
		assertThat(this.front.calls().stream().filter((call) -> call.verb() == Verb.CLAIM))
			.hasSizeLessThan((int) (3 + seconds));
	}

	@Test
	void asksAgainWhenTheStoreAnswers() {
		this.front.failing(Fault.UNREACHABLE, Verb.CLAIM);
		claimant(Samples.key()).claim();
		this.front.mended();
		await().untilAsserted(() -> {
			IdempotencyKey fresh = Samples.key();
			claimant(fresh).claim();
			assertThat(this.front.count(Verb.CLAIM, fresh)).isOne();
		});
	}

	@Test
	void completesTheKeyInFrontAfterTheCommit() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		claimant.commitAndComplete(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(this.database.begun).isOne();
	}

	@Test
	void boundsTheClaimsThatWaitWhereNothingInFrontKeepsDuplicatesAway() {
		claimant(this.key).claim();
		assertThat(this.database.contended).isFalse();
		IdempotencyStore alone = new ForwardingStore() {
			@Override
			protected IdempotencyStore target() {
				return TransactionalClaimantTests.this.memory;
			}

			@Override
			public boolean isDatabase() {
				return true;
			}
		};
		try (IdempotencyGuard withoutFront = new IdempotencyGuard(alone, OnStoreFailure.REJECT, LEASE)) {
			withoutFront.claimant(Samples.key(), Samples.fingerprint("request"), LEASE, LEASE, this.database).claim();
			assertThat(this.database.contended).isTrue();
		}
	}

	@Test
	void freesTheKeyInFrontWhenTheDatabaseIsUnreachable() {
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant(this.key).claim());
		this.database.unreachable = false;
		assertThat(claimant(this.key).claim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void saysOncePerOutageThatTheDatabaseDoesNotAnswer(CapturedOutput output) {
		for (int outage = 0; outage < 2; outage++) {
			this.database.unreachable = true;
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(() -> claimant(Samples.key()).claim());
			}
			this.database.unreachable = false;
			claimant(Samples.key()).claim();
		}
		assertThat(output.getOut().split("The database does not answer", -1)).hasSize(3);
		assertThat(output.getOut().split("The database answers again", -1)).hasSize(3);
	}

	@Test
	void tellsTheFrontWhatTheDatabaseSays() {
		this.database.answer = new Claim.Completed(RESPONSE, LEASE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
		assertThat(this.database.begun).isOne();
	}

	@Test
	void asksTheDatabaseAboutARunningKeyOnlyOnce() {
		TransactionalClaimant runner = claimant(this.key);
		runner.claim();
		this.memory.forget(this.key);
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
		assertThat(this.database.begun).isOne();
		runner.commitAndComplete(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void leavesTheKeyInFrontToItsLeaseWhileNobodyKnowsTheOutcome() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		this.database.failsToCommit = true;
		this.database.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> claimant.commitAndComplete(RESPONSE));
		assertThat(claimant(this.key).claim()).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void asksAgainWhenThePoolGivesItADeadConnection() {
		TransactionalClaimant claimant = claimant(this.key);
		claimant.claim();
		this.database.failsToCommit = true;
		this.database.deadConnections = 3;
		this.database.answer = new Claim.Completed(RESPONSE, LEASE);
		assertThat(claimant.commitAndComplete(RESPONSE)).isEqualTo(RESPONSE);
	}

	@Test
	void saysThatTheWorkIsUndoneOnlyWhenTheDatabaseSaysSo() {
		TransactionalClaimant undone = claimant(this.key);
		undone.claim();
		this.database.failsToCommit = true;
		assertThatExceptionOfType(WorkRolledBackException.class).isThrownBy(() -> undone.commitAndComplete(RESPONSE));
		undone.release();

		TransactionalClaimant done = claimant(this.key);
		done.claim();
		this.database.answer = new Claim.Completed(RESPONSE, LEASE);
		assertThat(done.commitAndComplete(Samples.response("mine"))).isEqualTo(RESPONSE);
		assertThat(claimant(this.key).claim()).is(Samples.completed(RESPONSE));
	}

	private TransactionalClaimant claimant(IdempotencyKey claimed) {
		return this.guard.claimant(claimed, Samples.fingerprint("request"), LEASE, LEASE, this.database);
	}

	/**
	 * A database that says what it is told to.
	 */
	private static final class Transactions implements IdempotencyTransactions {

		private int begun;

		private boolean contended;

		private boolean unreachable;

		private int deadConnections;

		private boolean failsToCommit;

		private Claim answer = new Claim.Acquired();

		@Override
		public Transaction begin(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
				boolean contended) {
			if (this.unreachable || this.deadConnections-- > 0) {
				throw new IdempotencyStoreUnavailableException("Told to be", null);
			}
			this.begun++;
			this.contended = contended;
			return new Open(this.answer);
		}

		@Override
		public @Nullable Claim find(IdempotencyKey key, Fingerprint fingerprint) {
			return null;
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
			public boolean isRollbackOnly() {
				return false;
			}

			@Override
			public void commit(StoredResponse response, Duration retention) {
				if (Transactions.this.failsToCommit) {
					throw new IllegalStateException("Told to fail");
				}
			}

			@Override
			public void rollback() {
			}

		}

	}

}
