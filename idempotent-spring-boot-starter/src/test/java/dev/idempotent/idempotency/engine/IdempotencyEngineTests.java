package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Call;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Gate;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.idempotency.engine.IdempotencyEngine.CurrentTrace;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyEngine} on a reachable store, with extensions that may
 * fail.
 */
class IdempotencyEngineTests {

	private static final Duration LEASE = Duration.ofMillis(60);

	private static final Duration RETENTION = Duration.ofHours(24);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final StoredResponse RESPONSE = Samples.response("response");

	private final ManualClock clock = new ManualClock();

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(this.clock);

	private final FaultyStore store = new FaultyStore(this.memory);

	private final IdempotencyEngine engine = engine(Duration.ofMinutes(10));

	private final IdempotencyKey key = Samples.key();

	private final Claimant runner = claimant(this.engine, this.key);

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Test
	void letsOneOfManyClaimantsRunAndReplaysItsResponseToTheOthers() {
		assertThat(this.runner.claim()).isEqualTo(new Claim.Acquired());
		assertThat(rivalsClaim()).isEqualTo(new Claim.Pending(LEASE));
		this.runner.complete(RESPONSE);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void letsAnotherRunAfterARelease() {
		this.runner.claim();
		this.runner.release();
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void keepsTheResponseForItsRetention() {
		this.runner.claim();
		this.runner.complete(RESPONSE);
		this.clock.advance(RETENTION.minusNanos(1));
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
		this.clock.advance(Duration.ofNanos(1));
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void keepsTheKeyOfARunThatIsLongerThanItsLease() {
		this.runner.claim();
		for (int i = 0; i < 10; i++) {
			this.clock.advance(LEASE.dividedBy(2));
			awaitRenewal();
			assertThat(rivalsClaim()).isEqualTo(new Claim.Pending(LEASE));
		}
	}

	@Test
	void leavesTheKeyToItsLeaseOnRequest() {
		this.runner.claim();
		this.runner.stopRenewal();
		awaitTheEndOfRenewals();
		this.clock.advance(LEASE);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void leavesTheKeyOfATooLongRunToItsLeaseButStoresItsResponse() {
		try (IdempotencyEngine impatient = engine(LEASE.multipliedBy(2))) {
			Claimant endless = claimant(impatient, this.key);
			endless.claim();
			awaitTheEndOfRenewals();
			this.clock.advance(LEASE);
			assertThat(this.memory.release(this.key, "nobody")).isTrue();
			endless.complete(RESPONSE);
			assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
		}
	}

	@Test
	void renewsNoKeyThatItHasNotAcquired() {
		this.memory.claim(this.key, REQUEST, "owner", LEASE);
		assertThat(this.runner.claim()).isInstanceOf(Claim.Pending.class);
		awaitTheEndOfRenewals();
		assertThat(this.store.count(Verb.RENEW, this.key)).isZero();
	}

	@Test
	void stopsRenewalsOnCompletion() {
		this.runner.claim();
		awaitRenewal();
		this.runner.complete(RESPONSE);
		awaitTheEndOfRenewals();
	}

	@Test
	void stopsRenewalsOnRelease() {
		this.runner.claim();
		awaitRenewal();
		this.runner.release();
		awaitTheEndOfRenewals();
	}

	@Test
	void stopsRenewalsWhenTheStoreFailsUnexpectedly() {
		this.runner.claim();
		this.store.failing(Fault.BUG, Verb.COMPLETE);
		this.runner.complete(RESPONSE);
		awaitTheEndOfRenewals();
	}

	@Test
	void reclaimsALostKeyAtTheNextRenewal() {
		this.runner.claim();
		this.memory.forget(this.key);
		await().until(() -> this.store.count(Verb.CLAIM, this.key) == 2);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Pending(LEASE));
		awaitRenewal();
		this.runner.complete(RESPONSE);
		assertThat(rivalsClaim()).is(Samples.completed(RESPONSE));
	}

	@Test
	void neverOverwritesAKeyThatWasTakenOver() {
		this.store.failing(Fault.UNREACHABLE, Verb.RENEW);
		this.runner.claim();
		this.clock.advance(LEASE);
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
		this.store.mended();
		awaitTheEndOfRenewals();
		this.runner.complete(RESPONSE);
		assertThat(this.memory.complete(this.key, REQUEST, "rival", Samples.response("rival"), RETENTION)).isTrue();
		assertThat(rivalsClaim()).is(Samples.completed(Samples.response("rival")));
	}

	@Test
	void neverReleasesAKeyThatWasTakenOver() {
		this.store.failing(Fault.UNREACHABLE, Verb.RENEW);
		this.runner.claim();
		this.clock.advance(LEASE);
		rivalsClaim();
		this.runner.release();
		assertThat(this.memory.renew(this.key, "rival", LEASE)).isTrue();
	}

	@Test
	void neverReclaimsAReleasedKeyInAConcurrentRenewal() throws InterruptedException {
		Gate renewal = this.store.gateBefore(Verb.RENEW);
		this.runner.claim();
		renewal.awaitArrival();
		Thread release = new Thread(this.runner::release);
		release.start();
		await().until(() -> release.getState() == Thread.State.WAITING || !release.isAlive());
		renewal.open();
		release.join();
		awaitTheEndOfRenewals();
		assertThat(rivalsClaim()).isEqualTo(new Claim.Acquired());
	}

	@Test
	void leavesNoKeyBehindWhenReleasesAndRenewalsRace() {
		List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(300).toList();
		for (IdempotencyKey each : keys) {
			Claimant brief = this.engine.claimant(Samples.operation(), RunIdentity.of(each, REQUEST, RETENTION),
					Duration.ofMillis(1));
			brief.claim();
			await().pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> this.store.count(Verb.RENEW, each) > 0);
			brief.release();
		}
		awaitTheEndOfRenewals();
		assertThat(keys).allMatch((each) -> this.memory.release(each, "nobody"));
	}

	@Test
	void neverFreesTheKeyOfWorkThatIsDoneIfItsCipherFails() {
		PayloadEncryption broken = new PayloadEncryption(new BrokenCipher(), false);
		try (IdempotencyEngine engine = engineWith(broken, () -> null)) {
			Claimant claimant = claimant(engine, this.key);
			claimant.claim();
			claimant.complete(Samples.response("response"));
			assertThat(engine.running()).isZero();
			assertThat(claimant(engine, this.key).claim()).is(Samples.completed(StoredResponse.notKept()));
		}
	}

	@Test
	void neverRefusesARequestThatCannotBeTraced() {
		try (IdempotencyEngine engine = engineWith(PayloadEncryption.NONE, () -> {
			throw new IllegalStateException("No tracer");
		})) {
			assertThat(claimant(engine, this.key).claim()).isEqualTo(new Claim.Acquired());
		}
	}

	private IdempotencyEngine engine(Duration maxRun) {
		return new IdempotencyEngine(this.store, OnStoreFailure.REJECT, maxRun);
	}

	private static Claimant claimant(IdempotencyEngine engine, IdempotencyKey key) {
		return engine.claimant(Samples.operation(), RunIdentity.of(key, REQUEST, RETENTION), LEASE);
	}

	private Claim rivalsClaim() {
		return this.memory.claim(this.key, REQUEST, "rival", LEASE);
	}

	/**
	 * Waits for a renewal that began after this call: the second one to end from now on.
	 */
	private void awaitRenewal() {
		long before = this.store.count(Verb.RENEW, this.key);
		await().until(() -> this.store.count(Verb.RENEW, this.key) >= before + 2);
	}

	/**
	 * Waits until another key with the same lease has been renewed many times in a row.
	 */
	private void awaitTheEndOfRenewals() {
		IdempotencyKey metronome = Samples.key();
		claimant(this.engine, metronome).claim();
		await().until(() -> {
			List<Call> calls = List.copyOf(this.store.calls());
			List<Call> latest = calls.subList(Math.max(0, calls.size() - 8), calls.size());
			return latest.size() == 8 && latest.stream().allMatch(new Call(Verb.RENEW, metronome)::equals);
		});
	}

	private IdempotencyEngine engineWith(PayloadEncryption encryption, CurrentTrace trace) {
		return new IdempotencyEngine(this.memory, OnStoreFailure.REJECT, Duration.ofMinutes(10), encryption, List.of(),
				trace);
	}

	private static final class BrokenCipher implements PayloadCipher {

		@Override
		public byte[] encrypt(byte[] payload, byte[] context) {
			throw new NoClassDefFoundError("Preset to lack a library");
		}

		@Override
		public byte[] decrypt(byte[] encrypted, byte[] context) {
			throw new NoClassDefFoundError("Preset to lack a library");
		}

	}

}
