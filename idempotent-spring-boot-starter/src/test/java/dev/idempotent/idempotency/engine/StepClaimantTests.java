package dev.idempotent.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StepClaimant}: the steps of runs that follow each other or overlap,
 * and while the store is unreachable or has lost its data.
 */
class StepClaimantTests {

	private static final Duration LEASE = Duration.ofHours(1);

	private static final Duration RETENTION = Duration.ofHours(3);

	private static final StoredResponse RESULT = Samples.response("the secret result");

	private static final StoredResponse OTHER = Samples.response("another result");

	private final ManualClock clock = new ManualClock();

	private final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(this.clock);

	private final FaultyStore store = new FaultyStore(this.memory);

	private final RecordingObserver observer = new RecordingObserver();

	private final List<IdempotencyEngine> engines = new ArrayList<>();

	private final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		IdempotencyContext.bind(null);
		this.store.mended();
		this.engines.forEach(IdempotencyEngine::close);
	}

	@Test
	void keepsItsResultForTheNextRun() {
		Run first = run(this.store);
		StepClaimant step = first.step("one");
		assertThat(step.claim()).isNull();
		step.complete(RESULT);
		first.claimant.release();
		Run second = run(this.store);
		assertThat(second.step("one").claim()).isEqualTo(RESULT);
		assertThat(second.step("two").claim()).isNull();
	}

	@Test
	void isRunAgainAfterItHasFailed() {
		Run first = run(this.store);
		StepClaimant step = first.step("one");
		step.claim();
		step.release();
		first.claimant.release();
		assertThat(run(this.store).step("one").claim()).isNull();
	}

	@Test
	void isFreeOnceItHasFailed() {
		Run run = run(this.store);
		IdempotencyContext.bind(run.context);
		AtomicReference<IdempotencyKey> failed = new AtomicReference<>(this.key);
		assertThatIllegalStateException().isThrownBy(() -> run.engine.step("one", () -> {
			failed.set(Objects.requireNonNull(IdempotencyContext.current()).key());
			throw new IllegalStateException("The step fails");
		}));
		assertThat(failed.get()).isNotEqualTo(this.key);
		assertThat(this.memory.find(failed.get())).isNull();
		assertThat(IdempotencyContext.current()).isSameAs(run.context);
	}

	@Test
	void isKeptAsLongAsTheResponseOfItsRunWouldBe() {
		Run first = run(this.store);
		StepClaimant step = first.step("one");
		step.claim();
		step.complete(RESULT);
		first.claimant.release();
		this.clock.advance(RETENTION.minusMillis(1));
		assertThat(this.memory.find(keyOf(step))).isNotNull();
		this.clock.advance(Duration.ofMillis(1));
		assertThat(this.memory.find(keyOf(step))).isNull();
	}

	@Test
	void isRefusedToAnotherRequestWhichThenLeavesTheKeyFree() {
		Run first = run(this.store);
		StepClaimant step = first.step("one");
		step.claim();
		step.complete(RESULT);
		first.claimant.release();
		Run other = run(engine(this.store, OnStoreFailure.REJECT), "another request", LEASE);
		assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> other.step("one").claim());
		assertThatExceptionOfType(IdempotencyMismatchException.class).isThrownBy(() -> other.step("two"));
		other.claimant.complete(Samples.response("a refusal that would be stored"));
		assertThat(this.memory.find(this.key)).isNull();
		assertThat(run(this.store).step("one").claim()).isEqualTo(RESULT);
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RELEASED, Outcome.MISMATCHED);
	}

	@Test
	void isNeitherARequestNorARunToObservers() {
		Run run = run(this.store);
		StepClaimant step = run.step("one");
		step.claim();
		assertThat(run.engine.running()).isOne();
		step.complete(RESULT);
		run.claimant.complete(Samples.response("response"));
		assertThat(this.observer.started()).hasSize(1);
		assertThat(this.observer.outcomes()).containsExactly(Outcome.RUN);
	}

	@Test
	void isEncryptedForItsOwnKeyOnly() {
		IdempotencyEngine encrypting = new IdempotencyEngine(this.store, OnStoreFailure.REJECT, LEASE, encryption(),
				List.of(), () -> null);
		this.engines.add(encrypting);
		Run first = run(encrypting, "request", LEASE);
		StepClaimant step = first.step("one");
		step.claim();
		step.complete(RESULT);
		StoredResponse stored = Objects.requireNonNull(Objects.requireNonNull(find(step)).response());
		assertThat(new String(stored.bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("secret");
		StepClaimant two = first.step("two");
		this.memory.complete(keyOf(two), Samples.fingerprint("request"), "forger", stored, RETENTION);
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(two::claim);
		first.claimant.release();
		assertThat(run(encrypting, "request", LEASE).step("one").claim()).isEqualTo(RESULT);
	}

	@Test
	void isTakenOverFromARunThatDiedInIt() {
		Run dead = run(this.store);
		this.clock.advance(LEASE.dividedBy(2));
		StepClaimant left = dead.step("one");
		left.claim();
		this.clock.advance(LEASE.dividedBy(2));
		assertThat(this.memory.find(keyOf(left))).isNotNull();
		StepClaimant taken = run(this.store).step("one");
		assertThat(taken.claim()).isNull();
		taken.complete(RESULT);
		assertThat(this.memory.find(keyOf(left))).extracting(StoredKey::token).isNotEqualTo(dead.context.token());
	}

	@Test
	void isNotRecordedByARunThatHasLostIt() {
		Run late = run(this.store);
		this.clock.advance(LEASE.dividedBy(2));
		StepClaimant left = late.step("one");
		left.claim();
		this.clock.advance(LEASE.dividedBy(2));
		Run successor = run(this.store);
		StepClaimant taken = successor.step("one");
		taken.claim();
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> left.complete(OTHER));
		taken.complete(RESULT);
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> left.complete(OTHER));
		successor.claimant.release();
		assertThat(run(this.store).step("one").claim()).isEqualTo(RESULT);
	}

	@Test
	void isRefusedToALateRunWhileItsSuccessorIsInIt() {
		Run late = run(this.store);
		this.clock.advance(LEASE);
		StepClaimant running = run(this.store).step("one");
		running.claim();
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> late.step("one").claim());
		running.complete(RESULT);
		assertThat(this.memory.find(keyOf(running))).extracting(StoredKey::state).isEqualTo(StoredKey.State.COMPLETED);
	}

	@Test
	void isRefusedToALateRunWhileItsSuccessorIsBetweenTwo() {
		FaultyStore silent = new FaultyStore(this.memory);
		silent.failing(Fault.UNREACHABLE, Verb.RENEW);
		Duration brief = Duration.ofMillis(2);
		Run late = run(silent, brief);
		this.clock.advance(brief);
		Run successor = run(this.store);
		await().until(() -> late.isOlderThan(brief));
		StepClaimant refused = late.step("one");
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(refused::claim);
		assertThat(this.memory.find(keyOf(refused))).isNull();
		assertThat(successor.step("one").claim()).isNull();
	}

	@Test
	void isRefusedToARunThatWasPausedWhileItClaimedItsKey() {
		FaultyStore silent = new FaultyStore(this.memory);
		silent.failing(Fault.UNREACHABLE, Verb.RENEW);
		Duration brief = Duration.ofMillis(100);
		AtomicReference<@Nullable Run> successor = new AtomicReference<>();
		Run late = run(new PausingStore(silent, () -> {
			this.clock.advance(brief);
			Run next = run(this.store);
			await().until(() -> next.isOlderThan(brief));
			successor.set(next);
		}), brief);
		StepClaimant refused = late.step("one");
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(refused::claim);
		assertThat(Objects.requireNonNull(successor.get()).step("one").claim()).isNull();
	}

	@Test
	void isPendingForTheRestOfItsLeaseIfTheStoreCannotLookKeysUp() {
		ForwardingStore blind = new BlindStore(this.memory);
		Run dead = run(blind);
		this.clock.advance(LEASE.dividedBy(2));
		dead.step("one").claim();
		this.clock.advance(LEASE.dividedBy(2));
		assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> run(blind).step("one").claim())
			.satisfies((pending) -> assertThat(pending.getRetryAfter()).isEqualTo(LEASE.dividedBy(2)));
	}

	@Test
	void isReclaimedByItsRunAfterTheStoreHasLostItsData() {
		Run run = run(this.store, Duration.ofMillis(2));
		this.memory.forget(this.key);
		await().until(() -> run.isOlderThan(Duration.ofMillis(2)));
		assertThat(run.step("one").claim()).isNull();
		run.claimant.release();
	}

	@Test
	void isNotRunWhileTheStoreIsUnreachable() {
		Run run = run(this.store);
		this.store.failing(Fault.UNREACHABLE, Verb.CLAIM);
		StepClaimant step = run.step("one");
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(step::claim);
		this.store.mended();
		await().untilAsserted(() -> assertThat(this.store.count(Verb.RELEASE, keyOf(step))).isPositive());
	}

	@Test
	void isReleasedIfItsRunCannotBeConfirmed() {
		FlickeringStore flickering = new FlickeringStore(this.memory, this.key);
		Run run = run(flickering, Duration.ofMillis(2));
		await().until(() -> run.isOlderThan(Duration.ofMillis(2)));
		StepClaimant step = run.step("one");
		flickering.unreachable = true;
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(step::claim);
		assertThat(find(step)).isNull();
	}

	@Test
	void runsUnprotectedWhileTheStoreIsUnreachableIfSoConfigured() {
		IdempotencyEngine proceeding = engine(this.store, OnStoreFailure.PROCEED);
		this.store.failing(Fault.UNREACHABLE, Verb.values());
		Run run = run(proceeding, "request", LEASE);
		StepClaimant step = run.step("one");
		assertThat(step.claim()).isNull();
		step.complete(RESULT);
		this.store.mended();
		await().until(() -> this.memory.find(keyOf(step)) != null);
	}

	@Test
	void isRecordedThoughTheReplyIsLost() {
		Run run = run(this.store);
		StepClaimant step = run.step("one");
		step.claim();
		this.store.failingOnce(Fault.REPLY_LOST, Verb.COMPLETE);
		step.complete(RESULT);
		run.claimant.release();
		assertThat(run(this.store).step("one").claim()).isEqualTo(RESULT);
	}

	@Test
	void isRecordedOnceTheStoreIsReachableAgain() {
		Run run = run(this.store);
		StepClaimant step = run.step("one");
		step.claim();
		this.store.failing(Fault.UNREACHABLE, Verb.COMPLETE);
		step.complete(RESULT);
		this.store.mended();
		await().until(() -> isCompleted(step));
	}

	private static PayloadEncryption encryption() {
		return new PayloadEncryption(
				new AesGcmPayloadCipher(Map.of("k1", new byte[AesGcmPayloadCipher.KEY_BYTES]), "k1"), false);
	}

	private @Nullable StoredKey find(StepClaimant step) {
		return this.memory.find(keyOf(step));
	}

	private static IdempotencyKey keyOf(StepClaimant step) {
		return step.context().key();
	}

	private IdempotencyEngine engine(IdempotencyStore asked, OnStoreFailure onFailure) {
		IdempotencyEngine engine = new IdempotencyEngine(asked, onFailure, LEASE, PayloadEncryption.NONE,
				List.of(this.observer), () -> null);
		this.engines.add(engine);
		return engine;
	}

	private Run run(IdempotencyStore asked) {
		return run(asked, LEASE);
	}

	private Run run(IdempotencyStore asked, Duration lease) {
		return run(engine(asked, OnStoreFailure.REJECT), "request", lease);
	}

	private Run run(IdempotencyEngine engine, String request, Duration lease) {
		return new Run(engine, this.key, request, lease);
	}

	private boolean isCompleted(StepClaimant step) {
		StoredKey found = find(step);
		return found != null && found.state() == StoredKey.State.COMPLETED;
	}

	/**
	 * A run in a process of its own.
	 */
	static final class Run {

		private final long start;

		final IdempotencyEngine engine;

		final Claimant claimant;

		final IdempotencyContext context;

		Run(IdempotencyEngine engine, IdempotencyKey key, String request, Duration lease) {
			this.engine = engine;
			this.claimant = engine.claimant(Samples.operation(),
					RunIdentity.of(key, Samples.fingerprint(request), RETENTION), lease);
			assertThat(this.claimant.claim()).isEqualTo(new Claim.Acquired());
			this.context = this.claimant.context();
			this.start = System.nanoTime();
		}

		StepClaimant step(String name) {
			IdempotencyContext.bind(this.context);
			return this.engine.step(name);
		}

		boolean isOlderThan(Duration age) {
			return System.nanoTime() - this.start > age.toNanos();
		}

	}

	/**
	 * A store of an application that has no {@code find}.
	 */
	private static final class BlindStore extends ForwardingStore {

		private final IdempotencyStore target;

		BlindStore(IdempotencyStore target) {
			this.target = target;
		}

		@Override
		protected IdempotencyStore target() {
			return this.target;
		}

		@Override
		public @Nullable StoredKey find(IdempotencyKey key) {
			throw new UnsupportedOperationException();
		}

	}

	/**
	 * A store whose process pauses once, after it has stored a claim.
	 */
	private static final class PausingStore extends ForwardingStore {

		private final IdempotencyStore target;

		private @Nullable Runnable pause;

		PausingStore(IdempotencyStore target, Runnable pause) {
			this.target = target;
			this.pause = pause;
		}

		@Override
		protected IdempotencyStore target() {
			return this.target;
		}

		@Override
		public Claim claim(IdempotencyKey claimed, Fingerprint fingerprint, String token, Duration lease) {
			Claim claim = super.claim(claimed, fingerprint, token, lease);
			Runnable once = this.pause;
			this.pause = null;
			if (once != null) {
				once.run();
			}
			return claim;
		}

	}

	/**
	 * A store that is reachable for some keys only.
	 */
	private static final class FlickeringStore extends ForwardingStore {

		private final IdempotencyStore target;

		private final IdempotencyKey key;

		private volatile boolean unreachable;

		FlickeringStore(IdempotencyStore target, IdempotencyKey key) {
			this.target = target;
			this.key = key;
		}

		@Override
		protected IdempotencyStore target() {
			return this.target;
		}

		@Override
		public Claim claim(IdempotencyKey claimed, Fingerprint fingerprint, String token, Duration lease) {
			if (this.unreachable && claimed.equals(this.key)) {
				throw new IdempotencyStoreUnavailableException("Not reached", null);
			}
			return super.claim(claimed, fingerprint, token, lease);
		}

	}

}
