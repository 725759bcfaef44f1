package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;

import dev.idempotent.encryption.PayloadCipher;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.engine.IdempotencyEngine.CurrentTrace;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for an {@link IdempotencyEngine} whose cipher or tracer fails.
 */
class FailingExtensionsTests {

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore(new ManualClock());

	private final IdempotencyKey key = Samples.key();

	@Test
	void neverFreeTheKeyOfWorkThatIsDone() {
		PayloadEncryption broken = new PayloadEncryption(new BrokenCipher(), false);
		try (IdempotencyEngine engine = engine(broken, () -> null)) {
			Claimant claimant = claimant(engine);
			claimant.claim();
			claimant.complete(Samples.response("response"));
			assertThat(engine.running()).isZero();
			assertThat(claimant(engine).claim()).is(Samples.completed(StoredResponse.notKept()));
		}
	}

	@Test
	void neverRefuseARequestThatCannotBeTraced() {
		try (IdempotencyEngine engine = engine(PayloadEncryption.NONE, () -> {
			throw new IllegalStateException("No tracer");
		})) {
			assertThat(claimant(engine).claim()).isEqualTo(new Claim.Acquired());
		}
	}

	private Claimant claimant(IdempotencyEngine engine) {
		return engine.claimant(Samples.operation(), this.key, Samples.fingerprint("request"), LEASE,
				Duration.ofHours(1));
	}

	private IdempotencyEngine engine(PayloadEncryption encryption, CurrentTrace trace) {
		return new IdempotencyEngine(this.store, OnStoreFailure.REJECT, Duration.ofMinutes(10), encryption, List.of(),
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
