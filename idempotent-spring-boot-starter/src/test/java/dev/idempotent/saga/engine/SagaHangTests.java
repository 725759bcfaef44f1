package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A step that hangs occupies one worker, not all.
 */
class SagaHangTests {

	private static final Duration SHORT = Duration.ofMillis(50);

	private static final Duration LONG = Duration.ofHours(1);

	private final CountDownLatch released = new CountDownLatch(1);

	private final InMemorySagaStore store = new InMemorySagaStore(Instant::now, Duration.ZERO);

	private final SagaEngine engine = new SagaEngine(this.store, new NoTransactions(),
			new SagaSettings("process", SHORT, SHORT, 20, 3, LONG, LONG, LONG, Duration.ofHours(1), null),
			new FailureClassifier(), PayloadEncryption.NONE, List.of());

	@AfterEach
	void close() {
		this.released.countDown();
		this.engine.close();
	}

	@Test
	void leavesWorkersToOtherSagas() {
		LambdaSaga hanging = new LambdaSaga("hanging", LONG, () -> {
			this.engine.steps().step("hang").run(this::hang);
			return "";
		});
		LambdaSaga other = new LambdaSaga("other", LONG, () -> "done");
		this.engine.open(List.of(hanging, other));
		IdempotencyKey hangs = start(hanging);
		await().until(() -> this.engine.running() == 1);
		int begun = attempts(hangs);
		await().until(() -> attempts(hangs) > begun + 1);
		assertThat(this.engine.running()).isOne();
		IdempotencyKey runs = start(other);
		await().until(() -> !Objects.requireNonNull(this.store.find(runs)).status().isOpen());
	}

	private int attempts(IdempotencyKey saga) {
		return Objects.requireNonNull(this.store.find(saga)).attempts();
	}

	private IdempotencyKey start(LambdaSaga saga) {
		return this.engine.start(saga, Samples.key(), Samples.fingerprint("order"),
				"[]".getBytes(StandardCharsets.UTF_8));
	}

	private void hang() {
		try {
			this.released.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class NoTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
