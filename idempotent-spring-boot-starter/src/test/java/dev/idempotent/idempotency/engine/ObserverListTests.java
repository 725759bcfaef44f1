package dev.idempotent.idempotency.engine;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyObserver;
import dev.idempotent.idempotency.IdempotencyObserver.Decision;
import dev.idempotent.idempotency.IdempotencyObserver.Outcome;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.OnStoreFailure;
import dev.idempotent.idempotency.RecordingObserver;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.test.InMemoryIdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ObserverList}.
 */
@ExtendWith(OutputCaptureExtension.class)
class ObserverListTests {

	private static final String CLIENTS_KEY = "the-key-of-the-client";

	private static final String BODY = "the body of the response";

	private final RecordingObserver second = new RecordingObserver();

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void keepsAnObserverThatThrowsFromAffectingTheWorkAndTheOthers(boolean error, CapturedOutput output) {
		assertThat(runAndReplay(new ThrowingObserver(error))).is(Samples.completed(Samples.response(BODY)));
		assertThat(this.second.started()).hasSize(1);
		assertThat(this.second.outcomes()).containsExactly(Outcome.RUN, Outcome.REPLAYED);
		assertThat(this.second.storeCalls()).hasSize(3);
		assertThat(output).containsOnlyOnce("An IdempotencyObserver has failed with ")
			.containsOnlyOnce("; its observation is missing");
	}

	@Test
	void callsTheOthersIfOneThrows() {
		IdempotencyObserver list = new ObserverList(List.of(new ThrowingObserver(false), this.second));
		list.leaseLost(Samples.key());
		list.leasesRenewed(2);
		list.settlementRetried(IdempotencyObserver.StoreVerb.COMPLETE, IdempotencyObserver.StoreResult.ANSWERED);
		assertThat(this.second.lost()).hasSize(1);
		assertThat(this.second.renewed()).containsExactly(2);
		assertThat(this.second.retried()).hasSize(1);
	}

	@Test
	void logsEachDecisionWithoutTheKeyOfTheClientAndWithoutTheBody(CapturedOutput output) {
		Logger logger = (Logger) LoggerFactory.getLogger(ObserverList.class);
		Level before = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		try {
			runAndReplay(new RecordingObserver());
		}
		finally {
			logger.setLevel(before);
		}
		assertThat(output)
			.contains("METHOD sample: RUN after ", "METHOD sample: REPLAYED after ", key().toString(), "LEASE")
			.doesNotContain(CLIENTS_KEY, BODY);
	}

	@Test
	void logsARefusedRequestWithoutAKey(CapturedOutput output) {
		Logger logger = (Logger) LoggerFactory.getLogger(ObserverList.class);
		Level before = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		try {
			new ObserverList(List.of())
				.decided(new Decision(Samples.operation(), null, Outcome.REFUSED, Duration.ZERO, null));
		}
		finally {
			logger.setLevel(before);
		}
		assertThat(output).contains("METHOD sample: REFUSED after 0 ms (no key, LEASE)");
	}

	private Claim runAndReplay(IdempotencyObserver first) {
		try (IdempotencyEngine engine = new IdempotencyEngine(new InMemoryIdempotencyStore(new ManualClock()),
				OnStoreFailure.REJECT, Duration.ofMinutes(10), PayloadEncryption.NONE, List.of(first, this.second),
				() -> null)) {
			Claimant runner = claimant(engine);
			assertThat(runner.claim()).isEqualTo(new Claim.Acquired());
			runner.complete(Samples.response(BODY));
			return claimant(engine).claim();
		}
	}

	private static Claimant claimant(IdempotencyEngine engine) {
		return engine.claimant(Samples.operation(),
				RunIdentity.of(key(), Samples.fingerprint("request"), Duration.ofHours(1)), Duration.ofMinutes(1));
	}

	private static IdempotencyKey key() {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "samples", "", "", CLIENTS_KEY);
	}

	private static final class ThrowingObserver implements IdempotencyObserver {

		private final boolean error;

		ThrowingObserver(boolean error) {
			this.error = error;
		}

		@Override
		public void runStarted(Operation operation, IdempotencyKey key) {
			fail();
		}

		@Override
		public void decided(Decision decision) {
			fail();
		}

		@Override
		public void storeCalled(String store, StoreVerb verb, StoreResult result, Duration took) {
			fail();
		}

		@Override
		public void leasesRenewed(int leases) {
			fail();
		}

		@Override
		public void leaseLost(IdempotencyKey key) {
			fail();
		}

		@Override
		public void settlementRetried(StoreVerb verb, StoreResult result) {
			fail();
		}

		private void fail() {
			if (this.error) {
				throw new NoSuchMethodError("A library of another version");
			}
			throw new IllegalStateException("A bug in the observer");
		}

	}

}
