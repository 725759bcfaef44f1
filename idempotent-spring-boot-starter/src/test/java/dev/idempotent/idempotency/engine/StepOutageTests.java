package dev.idempotent.idempotency.engine;

import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.engine.FaultyStore.Fault;
import dev.idempotent.idempotency.engine.FaultyStore.Verb;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StepClaimant} while the store is unreachable, and after it has lost
 * its data.
 */
class StepOutageTests extends StepRuns {

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

	private boolean isCompleted(StepClaimant step) {
		StoredKey found = find(step);
		return found != null && found.state() == StoredKey.State.COMPLETED;
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
