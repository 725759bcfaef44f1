package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaObserver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A process that stops leaves the saga of a caller to another one.
 */
class SagaStopTests {

	private static final Duration LONG = Duration.ofHours(1);

	private final AtomicInteger takenOver = new AtomicInteger();

	private final SagaEngine engine = new SagaEngine(new InMemorySagaStore(new ManualClock(), Duration.ZERO),
			new NoTransactions(), new SagaSettings("process", LONG, LONG, 20, 1, Duration.ofMillis(500), LONG, LONG,
					Duration.ofHours(1), null),
			new FailureClassifier(), PayloadEncryption.NONE, List.of(new SagaObserver() {
				@Override
				public void takenOver(String name) {
					SagaStopTests.this.takenOver.incrementAndGet();
				}
			}));

	@Test
	void doesNotTakeOverWhatItReleases() {
		assertThatExceptionOfType(IdempotencyPendingException.class)
			.isThrownBy(() -> this.engine.call(LambdaSaga.of(this::body), Samples.key(), Samples.fingerprint("order"),
					"[]".getBytes(StandardCharsets.UTF_8)));
		assertThat(this.takenOver).hasValue(0);
	}

	private String body() {
		this.engine.steps().step("first").run(this.engine::close);
		this.engine.steps().step("second").run(() -> {
		});
		return "done";
	}

	private static final class NoTransactions implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void commit(TransactionStatus status) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void rollback(TransactionStatus status) {
			throw new UnsupportedOperationException();
		}

	}

}
