package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StepClaimant}: the steps of two runs that overlap.
 */
class LateStepTests extends StepRuns {

	private static final StoredResponse OTHER = Samples.response("another result");

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

}
