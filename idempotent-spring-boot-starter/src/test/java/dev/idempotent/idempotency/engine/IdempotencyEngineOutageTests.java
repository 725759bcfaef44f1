package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Call;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyEngine} during outages of the store, and at the limits of
 * its background work. The store's clock stands still, so no lease expires.
 */
class IdempotencyEngineOutageTests {

	private static final Duration LEASE = Duration.ofMillis(60);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(new ManualClock());

	private final FaultyStore store = new FaultyStore(this.memory);

	private final IdempotencyEngine engine = engine(OnStoreFailure.REJECT);

	private final IdempotencyEngine proceedingGuard = engine(OnStoreFailure.PROCEED);

	private final IdempotencyKey key = Samples.key();

	private final Claimant runner = claimant(this.engine, this.key);

	private final Claimant unprotectedRunner = claimant(this.proceedingGuard, this.key);

	@AfterEach
	void close() {
		this.store.mended();
		this.engine.close();
		this.proceedingGuard.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "UNREACHABLE", "REPLY_LOST" })
	void refusesAClaimOfUnknownOutcomeAndReleasesTheKeyOnceTheStoreAnswers(Fault fault) {
		this.store.failingOnce(fault, Verb.CLAIM);
		this.store.failingOnce(Fault.UNREACHABLE, Verb.RELEASE);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this.runner::claim);
		await().until(() -> this.store.count(Verb.RELEASE, this.key) == 2);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
		assertThat(this.store.count(Verb.RENEW, this.key)).isZero();
	}

	@Test
	void neverReleasesTheKeyOfAnotherClaimantAfterAnUnknownOutcome() {
		this.store.failingOnce(Fault.UNREACHABLE, Verb.CLAIM);
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(this.runner::claim);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
		await().until(() -> this.store.count(Verb.RELEASE, this.key) == 1);
		assertThat(this.memory.renew(this.key, "rival", LEASE)).isTrue();
	}

	@Test
	void claimsTheKeyOfAnUnprotectedRunOnceTheStoreIsBack() {
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		assertThat(this.unprotectedRunner.claim()).isEqualTo(new Claim.Acquired());
		this.store.mended();
		// A rival would take the key.
		await().until(() -> this.memory.find(this.key) != null);
		assertThat(rivalsClaim()).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void storesTheResponseOfAnUnprotectedRunOnceTheStoreIsBack() {
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		this.unprotectedRunner.claim();
		this.unprotectedRunner.complete(RESPONSE);
		this.store.mended();
		// A rival would take the key.
		await().until(() -> {
			StoredKey stored = this.memory.find(this.key);
			return stored != null && stored.response() != null;
		});
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void neverOverwritesAResponseWithThatOfAnUnprotectedRun() {
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		this.unprotectedRunner.claim();
		this.memory.complete(this.key, REQUEST, "rival", Samples.response("rival"), RETENTION);
		this.store.mended();
		this.unprotectedRunner.complete(RESPONSE);
		this.unprotectedRunner.release();
		assertThat(rivalsClaim()).is(Samples.completed(Samples.response("rival")));
	}

	@Test
	void renewsTheLeaseUntilTheResponseIsStored() {
		this.runner.claim();
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		this.runner.complete(RESPONSE);
		long before = this.store.count(Verb.RENEW, this.key);
		await().until(() -> this.store.count(Verb.COMPLETE, this.key) >= 3);
		await().until(() -> this.store.count(Verb.RENEW, this.key) > before);
		this.store.mended();
		await().until(() -> Samples.completed(RESPONSE).matches(rivalsClaim()));
	}

	@Test
	void releasesAKeyInTheBackgroundIfItsReleaseFails() {
		this.runner.claim();
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		this.runner.release();
		this.store.mended();
		await().until(() -> rivalsClaim().equals(new Claim.Acquired()));
	}

	@Test
	void storesAResponseOnceAfterALostReply() {
		this.runner.claim();
		this.store.failingOnce(Fault.REPLY_LOST, Verb.COMPLETE);
		this.runner.complete(RESPONSE);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
		await().until(() -> this.store.count(Verb.COMPLETE, this.key) == 2);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void releasesAKeyAfterALostReply() {
		this.runner.claim();
		this.store.failingOnce(Fault.REPLY_LOST, Verb.RELEASE);
		this.runner.release();
		await().until(() -> this.store.count(Verb.RELEASE, this.key) == 2);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void hidesABugOfTheStoreFromTheRunAndLeavesTheKeyToItsLease() {
		this.runner.claim();
		this.store.failing(Fault.BUG, Verb.COMPLETE, Verb.RELEASE);
		this.runner.complete(RESPONSE);
		this.runner.release();
		assertThat(this.store.count(Verb.COMPLETE, this.key)).isOne();
		assertThat(this.store.count(Verb.RELEASE, this.key)).isOne();
		assertThat(rivalsClaim()).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void keepsRenewingDespiteOccasionalFailures() {
		this.runner.claim();
		for (Fault fault : Fault.values()) {
			this.store.failingOnce(fault, Verb.RENEW);
			long before = this.store.count(Verb.RENEW, this.key);
			await().until(() -> this.store.count(Verb.RENEW, this.key) >= before + 3);
		}
	}

	@Test
	void storesTheFactThatTheWorkWasDoneIfTheResponseExceedsTheMemoryLimit() {
		// With its origin, 16 of them fit into the limit of 16 MB.
		StoredResponse megabyte = StoredResponse.of(new byte[1024 * 1024 - 100]);
		List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(17).toList();
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		for (IdempotencyKey each : keys) {
			Claimant claimant = claimant(this.engine, each);
			claimant.claim();
			claimant.complete(megabyte);
		}
		this.store.mended();
		await().untilAsserted(
				() -> assertThat(keys.subList(0, 16)).extracting(this::rivalsClaim).are(Samples.completed(megabyte)));
		await()
			.untilAsserted(() -> assertThat(rivalsClaim(keys.get(16))).is(Samples.completed(StoredResponse.notKept())));
	}

	@Test
	void hasRoomAgainOnceTheWaitingResponsesAreStored() {
		StoredResponse large = StoredResponse.of(new byte[16 * 1024 * 1024 - 100]);
		for (int i = 0; i < 2; i++) {
			IdempotencyKey each = Samples.key();
			Claimant claimant = claimant(this.engine, each);
			claimant.claim();
			this.store.failingOnce(Fault.UNREACHABLE, Verb.COMPLETE);
			claimant.complete(large);
			await().until(() -> Samples.completed(large).matches(rivalsClaim(each)));
			await().until(() -> this.store.count(Verb.COMPLETE, each) == 2);
		}
	}

	@Test
	void triesOutstandingResponsesOnceMoreWhenItCloses() {
		this.runner.claim();
		this.store.failingOnce(Fault.UNREACHABLE, Verb.COMPLETE);
		this.runner.complete(RESPONSE);
		this.engine.close();
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsAnOutageAndItsEndInOneLineEach(CapturedOutput output) {
		this.store.failing(Fault.UNREACHABLE, Verb.CLAIM);
		for (int i = 0; i < 3; i++) {
			refuseAndRelease(Samples.key());
		}
		this.store.mended();
		claimant(this.engine, Samples.key()).claim();
		claimant(this.engine, Samples.key()).claim();
		assertThat(linesOfTheStore(output)).hasSize(2);
		assertThat(output).contains("(FaultyStore) is unreachable")
			.contains("idempotent.on-store-failure=reject")
			.containsPattern("\\(FaultyStore\\) is reachable again, after \\d+ m?s");
	}

	/**
	 * Such as of a Redis whose replicas are away: keys can be released without them.
	 */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsAnOutageOfClaimsOnceWhileReleasesSucceed(CapturedOutput output) {
		this.store.failing(Fault.UNREACHABLE, Verb.CLAIM);
		for (int i = 0; i < 3; i++) {
			refuseAndRelease(Samples.key());
		}
		assertThat(linesOfTheStore(output)).hasSize(1);
	}

	@Test
	void triesOneOutstandingResponseOnAnUnreachableStoreWhenItCloses() {
		Thread closing = Thread.currentThread();
		AtomicInteger tried = new AtomicInteger();
		IdempotencyEngine outstanding = new IdempotencyEngine(new ForwardingStore() {

			@Override
			protected IdempotencyStore target() {
				return IdempotencyEngineOutageTests.this.store;
			}

			@Override
			public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
					Duration retention) {
				tried.addAndGet((Thread.currentThread() == closing) ? 1 : 0);
				return super.complete(key, fingerprint, token, response, retention);
			}

		}, OnStoreFailure.REJECT, Duration.ofMinutes(10));
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		for (int i = 0; i < 50; i++) {
			Claimant claimant = outstanding.claimant(Samples.operation(),
					RunIdentity.of(Samples.key(), REQUEST, RETENTION), Duration.ofMinutes(1));
			claimant.claim();
			claimant.complete(RESPONSE);
		}
		await().until(() -> this.store.calls().size() > 100);
		tried.set(0);
		outstanding.close();
		assertThat(tried).hasValue(1);
	}

	@Test
	void grantsAKeyForItsLeaseAfterItWasClosed() {
		this.engine.close();
		IdempotencyKey key = Samples.key();
		Claimant late = claimant(this.engine, key);
		assertThat(late.claim()).isEqualTo(new Claim.Acquired());
		late.complete(RESPONSE);
		assertThat(this.memory.claim(key, REQUEST, "rival", LEASE)).is(Samples.completed(RESPONSE));
	}

	@Test
	void stopsRenewalsOfAKeyThatCannotBeCompletedInTheBackground() {
		IdempotencyKey key = Samples.key();
		Claimant runner = claimant(this.engine, key);
		runner.claim();
		this.store.failing(Fault.BUG, Verb.COMPLETE);
		this.store.failingOnce(Fault.UNREACHABLE, Verb.COMPLETE);
		runner.complete(RESPONSE);
		await().until(() -> this.store.count(Verb.COMPLETE, key) == 2);
		IdempotencyKey metronome = Samples.key();
		claimant(this.engine, metronome).claim();
		await().until(() -> {
			List<Call> calls = List.copyOf(this.store.calls());
			return calls.subList(Math.max(0, calls.size() - 8), calls.size())
				.stream()
				.allMatch(new Call(Verb.RENEW, metronome)::equals);
		});
	}

	/**
	 * Without what threads of earlier tests may log.
	 */
	private static Stream<String> linesOfTheStore(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("FaultyStore"));
	}

	private void refuseAndRelease(IdempotencyKey refused) {
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(claimant(this.engine, refused)::claim);
		await().until(() -> this.store.count(Verb.RELEASE, refused) == 1);
	}

	private IdempotencyEngine engine(OnStoreFailure onStoreFailure) {
		return new IdempotencyEngine(this.store, onStoreFailure, Duration.ofMinutes(10));
	}

	private static Claimant claimant(IdempotencyEngine engine, IdempotencyKey key) {
		return engine.claimant(Samples.operation(), RunIdentity.of(key, REQUEST, RETENTION), LEASE);
	}

	private Claim rivalsClaim() {
		return rivalsClaim(this.key);
	}

	private Claim rivalsClaim(IdempotencyKey claimed) {
		return this.memory.claim(claimed, REQUEST, "rival", LEASE);
	}

}
