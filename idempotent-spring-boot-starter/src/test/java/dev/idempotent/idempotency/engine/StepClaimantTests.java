package dev.idempotent.idempotency.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.idempotent.encryption.AesGcmPayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link StepClaimant}: the steps of runs that follow each other.
 */
class StepClaimantTests extends StepRuns {

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

	private static PayloadEncryption encryption() {
		return new PayloadEncryption(
				new AesGcmPayloadCipher(Map.of("k1", new byte[AesGcmPayloadCipher.KEY_BYTES]), "k1"), false);
	}

}
