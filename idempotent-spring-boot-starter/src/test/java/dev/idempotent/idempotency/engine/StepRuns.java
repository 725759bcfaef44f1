package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The runs of one key, which follow each other or overlap, and their steps.
 */
abstract class StepRuns {

	static final Duration LEASE = Duration.ofHours(1);

	static final Duration RETENTION = Duration.ofHours(3);

	static final StoredResponse RESULT = Samples.response("the secret result");

	final ManualClock clock = new ManualClock();

	final InMemoryIdempotencyStore memory = new InMemoryIdempotencyStore(this.clock);

	final FaultyStore store = new FaultyStore(this.memory);

	final RecordingObserver observer = new RecordingObserver();

	final List<IdempotencyEngine> engines = new ArrayList<>();

	final IdempotencyKey key = Samples.key();

	@AfterEach
	void close() {
		IdempotencyContext.bind(null);
		this.store.mended();
		this.engines.forEach(IdempotencyEngine::close);
	}

	@Nullable StoredKey find(StepClaimant step) {
		return this.memory.find(keyOf(step));
	}

	static IdempotencyKey keyOf(StepClaimant step) {
		return step.context().key();
	}

	IdempotencyEngine engine(IdempotencyStore asked, OnStoreFailure onFailure) {
		IdempotencyEngine engine = new IdempotencyEngine(asked, onFailure, LEASE, PayloadEncryption.NONE,
				List.of(this.observer), () -> null);
		this.engines.add(engine);
		return engine;
	}

	Run run(IdempotencyStore asked) {
		return run(asked, LEASE);
	}

	Run run(IdempotencyStore asked, Duration lease) {
		return run(engine(asked, OnStoreFailure.REJECT), "request", lease);
	}

	Run run(IdempotencyEngine engine, String request, Duration lease) {
		return new Run(engine, this.key, request, lease);
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
			this.claimant = engine.claimant(Samples.operation(), key, Samples.fingerprint(request), lease, RETENTION);
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

}
