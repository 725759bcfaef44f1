package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.ManualClock;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.store.SagaOwner;
import dev.idempotent.saga.store.SagaStore.NewSaga;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the threads that run sagas in the background.
 */
class SagaWorkersTests {

	/**
	 * More than one worker takes in the time of the test if it waits for a poll each
	 * time.
	 */
	private static final int MANY = 500;

	/**
	 * More than wait in memory.
	 */
	private static final int BURST = 1_500;

	private final InMemorySagaStore store = new InMemorySagaStore(InstantSource.system(), Duration.ZERO);

	private final SimulatedProcess process = new SimulatedProcess(this.store, 0, Integer.MAX_VALUE);

	private final SagaDefinition healthy = saga("healthy", () -> this.process.engine().steps().step("a").run(() -> {
	}));

	@AfterEach
	void stop() {
		this.process.engine().close();
	}

	@Test
	void runStartedSagasBehindOneThatAlwaysFails() {
		AtomicInteger failures = new AtomicInteger();
		SagaDefinition failing = saga("failing", () -> this.process.engine().steps().step("a").run(() -> {
			failures.incrementAndGet();
			throw new IllegalStateException("timeout");
		}));
		this.process.engine().open(List.of(failing, this.healthy));
		start(failing);
		List<IdempotencyKey> others = IntStream.range(0, MANY).mapToObj((i) -> start(this.healthy)).toList();
		awaitEnd(others);
		assertThat(failures).hasPositiveValue();
	}

	@Test
	void runSagasThatAreDueOneAfterAnother() {
		List<IdempotencyKey> due = IntStream.range(0, MANY).mapToObj((i) -> Samples.key()).toList();
		due.forEach((id) -> this.store.insert(new NewSaga(SagaOwner.first(id), "healthy", SagaStatus.STARTED, "dead",
				Samples.fingerprint("order"), new byte[] { 1 }, null, Duration.ZERO, Duration.ofMinutes(10)),
				List.of()));
		this.process.engine().open(List.of(this.healthy));
		awaitEnd(due);
	}

	@Test
	void runMoreStartedSagasThanWaitInMemoryBeforeTheirLeasesEnd() {
		InMemorySagaStore frozen = new InMemorySagaStore(new ManualClock(), Duration.ZERO);
		SimulatedProcess stopped = new SimulatedProcess(frozen, 0, Integer.MAX_VALUE);
		CountDownLatch all = new CountDownLatch(1);
		stopped.engine().open(List.of(saga("first", () -> pass(all)), saga("next", () -> {
		})));
		try {
			IdempotencyKey first = start(stopped, saga("first", () -> {
			}));
			await().until(() -> frozen.find(first), (saga) -> saga.status() == SagaStatus.EXECUTING);
			List<IdempotencyKey> burst = IntStream.range(0, BURST).mapToObj((i) -> start(stopped, saga("next", () -> {
			}))).toList();
			all.countDown();
			await().atMost(Duration.ofMinutes(1))
				.until(() -> burst.stream().map(frozen::find).noneMatch((saga) -> saga.status().isOpen()));
		}
		finally {
			all.countDown();
			stopped.engine().close();
		}
	}

	private static IdempotencyKey start(SimulatedProcess process, SagaDefinition saga) {
		return process.engine().start(saga, Samples.key(), Samples.fingerprint("order"), new byte[] { 1 });
	}

	private static void pass(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void awaitEnd(List<IdempotencyKey> sagas) {
		await().atMost(Duration.ofMinutes(2))
			.until(() -> sagas.stream()
				.allMatch((id) -> this.process.engine().find(id).orElseThrow().status() == SagaStatus.COMPLETED));
	}

	private IdempotencyKey start(SagaDefinition saga) {
		return start(this.process, saga);
	}

	private static SagaDefinition saga(String name, Runnable body) {
		return new LambdaSaga(name, Duration.ofMinutes(10), () -> {
			body.run();
			return null;
		});
	}

	/**
	 * A step that hangs occupies one worker, not all.
	 */
	@Nested
	class HangingStep {

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

}
