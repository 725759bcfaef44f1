package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the unsettled keys that an {@link IdempotencyEngine} reports.
 */
class UnsettledKeysTests {

	private static final Duration LEASE = Duration.ofMillis(30);

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final FaultyStore store = new FaultyStore(new InMemoryIdempotencyStore(new ManualClock()));

	private final PresetTransactions database = new PresetTransactions();

	private final IdempotencyKey key = Samples.key();

	private IdempotencyEngine engine = engine(Duration.ofMinutes(10));

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
	}

	@Test
	void areNoneAtFirst() {
		assertThat(this.engine.running()).isZero();
		assertThat(this.engine.settlementsWaiting()).isZero();
		assertThat(this.engine.oldestUnsettled()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void areGoneAfterEachEndOfARun(End end) {
		Claimant claimant = claimant();
		claimant.claim();
		assertThat(this.engine.running()).isOne();
		assertThat(this.engine.oldestUnsettled()).isPositive();
		end.of(claimant);
		assertThat(this.engine.running()).isZero();
		assertThat(this.engine.oldestUnsettled()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void areGoneAfterEachEndOfATransaction(End end) {
		TransactionalClaimant claimant = transactional();
		claimant.claim();
		assertThat(this.engine.running()).isOne();
		claimant.rollback();
		end.of(claimant);
		assertThat(this.engine.running()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void areGoneAfterATransactionWithoutTheStore(End end) {
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		this.engine
			.claimant(Samples.operation(),
					RunIdentity.of(Samples.key(), Samples.fingerprint("request"), Duration.ofHours(1)), LEASE,
					this.database)
			.claim();
		TransactionalClaimant claimant = transactional();
		claimant.claim();
		assertThat(this.engine.running()).isEqualTo(2);
		claimant.rollback();
		end.of(claimant);
		assertThat(this.engine.running()).isOne();
	}

	@Test
	void areGoneIfTheDatabaseRefusesTheKey() {
		this.database.answer = new Claim.Mismatched(null);
		transactional().claim();
		this.database.answer = new Claim.Pending(LEASE);
		transactional().claim();
		this.database.answer = PresetTransactions.completed(RESPONSE, LEASE);
		transactional().claim();
		assertThat(this.engine.running()).isZero();
	}

	@Test
	void areGoneIfTheDatabaseIsUnreachable() {
		this.database.unreachable = true;
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> transactional().claim());
		assertThat(this.engine.running()).isZero();
	}

	@Test
	void areGoneAfterTheMaximumDurationOfARunThatNeverEnds() {
		this.engine.close();
		this.engine = engine(Duration.ofMillis(1));
		claimant().claim();
		await().until(() -> this.engine.running() == 0);
		assertThat(this.engine.oldestUnsettled()).isZero();
	}

	@Test
	void areAsOldAsTheirRunWhileTheyWaitForTheStore() {
		Claimant claimant = claimant();
		claimant.claim();
		await().until(() -> this.engine.oldestUnsettled().toMillis() > 20);
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		claimant.complete(RESPONSE);
		assertThat(this.engine.running()).isZero();
		assertThat(this.engine.settlementsWaiting()).isOne();
		assertThat(this.engine.oldestUnsettled().toMillis()).isGreaterThan(20);
		this.store.mended();
		await().until(() -> this.engine.oldestUnsettled().isZero());
		assertThat(this.engine.settlementsWaiting()).isZero();
	}

	private Claimant claimant() {
		return this.engine.claimant(Samples.operation(),
				RunIdentity.of(this.key, Samples.fingerprint("request"), Duration.ofHours(1)), LEASE);
	}

	private TransactionalClaimant transactional() {
		return this.engine.claimant(Samples.operation(),
				RunIdentity.of(this.key, Samples.fingerprint("request"), Duration.ofHours(1)), LEASE, this.database);
	}

	private IdempotencyEngine engine(Duration maxRun) {
		return new IdempotencyEngine(this.store, OnStoreFailure.REJECT, maxRun);
	}

	enum End {

		COMPLETED, RELEASED, RELEASED_TWICE, UNKNOWN, LEFT_TO_AN_ERROR_PAGE, COMPLETED_BY_AN_ERROR_PAGE;

		void of(Claimant claimant) {
			switch (this) {
				case COMPLETED -> claimant.complete(RESPONSE);
				case RELEASED -> claimant.release();
				case RELEASED_TWICE -> {
					claimant.release();
					claimant.release();
				}
				case UNKNOWN -> claimant.settleUnknown();
				case LEFT_TO_AN_ERROR_PAGE -> claimant.stopRenewal();
				case COMPLETED_BY_AN_ERROR_PAGE -> {
					claimant.stopRenewal();
					claimant.complete(RESPONSE);
				}
			}
		}

	}

}
