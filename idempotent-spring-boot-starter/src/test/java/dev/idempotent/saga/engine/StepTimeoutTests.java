package dev.idempotent.saga.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaStep;
import dev.idempotent.saga.store.StoredSaga;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Steps whose service does not answer.
 */
class StepTimeoutTests {

	private static final Duration LONG = Duration.ofHours(1);

	private static final Duration LIMIT = Duration.ofMillis(100);

	private static final int WORKERS = 4;

	private static final byte[] ARGUMENTS = "[]".getBytes(StandardCharsets.UTF_8);

	private final CountDownLatch answer = new CountDownLatch(1);

	private final AtomicInteger calls = new AtomicInteger();

	private final AtomicInteger returned = new AtomicInteger();

	private final Queue<Thread> interrupted = new ConcurrentLinkedQueue<>();

	private final InMemorySagaStore store = new InMemorySagaStore(Instant::now, Duration.ZERO);

	private @Nullable SagaEngine opened;

	@AfterEach
	void close() {
		this.answer.countDown();
		if (this.opened != null) {
			this.opened.close();
		}
	}

	/**
	 * Without a limit, each of these calls would keep its worker for ever.
	 */
	@Test
	void giveTheirWorkersBack() {
		SagaEngine engine = engine(LIMIT, 20);
		LambdaSaga hanging = saga(engine, "hanging", (step) -> step.run(this::hang));
		LambdaSaga other = saga(engine, "other", (step) -> step.run(this.calls::incrementAndGet));
		engine.open(List.of(hanging, other));
		List<IdempotencyKey> stuck = IntStream.range(0, 2 * WORKERS).mapToObj((i) -> start(engine, hanging)).toList();
		await().until(() -> stuck.stream().allMatch((id) -> attempts(id) > 1));
		IdempotencyKey runs = start(engine, other);
		await().until(() -> status(runs) == SagaStatus.COMPLETED);
		assertThat(stuck).allMatch((id) -> status(id) == SagaStatus.EXECUTING);
	}

	/**
	 * The threads of these calls never come back in time.
	 */
	@Test
	void leaveWorkersToSagasOfOtherNames() {
		SagaEngine engine = engine(LONG, 20);
		LambdaSaga hanging = saga(engine, "hanging", (step) -> step.run(this::hang));
		LambdaSaga other = saga(engine, "other", (step) -> step.run(this.calls::incrementAndGet));
		engine.open(List.of(hanging, other));
		List<IdempotencyKey> stuck = IntStream.range(0, 2 * WORKERS).mapToObj((i) -> start(engine, hanging)).toList();
		await().until(() -> engine.running() == WORKERS / 2);
		List<IdempotencyKey> others = IntStream.range(0, 5).mapToObj((i) -> start(engine, other)).toList();
		await().until(() -> others.stream().allMatch((id) -> status(id) == SagaStatus.COMPLETED));
		assertThat(engine.running()).isEqualTo(WORKERS / 2);
		this.answer.countDown();
		await().until(() -> stuck.stream().allMatch((id) -> status(id) == SagaStatus.COMPLETED));
	}

	/**
	 * Each of two names may have half of the workers. The first calls of both end after a
	 * long time without an outcome, as after the read time-out of a client.
	 */
	@Test
	void leaveWorkersToSagasThatDoNotUseTheServiceWhateverNamesDo() {
		SagaEngine engine = engine(LONG, 20);
		AtomicInteger hanging = new AtomicInteger();
		Map<String, AtomicInteger> made = Map.of("charging", new AtomicInteger(), "refunding", new AtomicInteger());
		List<LambdaSaga> slow = made.keySet().stream().map((name) -> saga(engine, name, (step) -> step.run(() -> {
			if (Objects.requireNonNull(made.get(name)).incrementAndGet() <= WORKERS / 2) {
				failAfterALongTime();
			}
			hanging.incrementAndGet();
			hang();
		}))).toList();
		LambdaSaga other = saga(engine, "other", (step) -> step.run(this.calls::incrementAndGet));
		engine.open(List.of(slow.get(0), slow.get(1), other));
		IntStream.range(0, 2 * WORKERS).forEach((i) -> slow.forEach((saga) -> start(engine, saga)));
		await().atMost(Duration.ofMinutes(1))
			.until(() -> hanging.get() == WORKERS / 2
					&& made.values().stream().allMatch((number) -> number.get() >= WORKERS / 2));
		List<IdempotencyKey> others = IntStream.range(0, 5).mapToObj((i) -> start(engine, other)).toList();
		await().until(() -> others.stream().allMatch((id) -> status(id) == SagaStatus.COMPLETED));
		await().during(Duration.ofSeconds(1)).until(() -> hanging.get() == WORKERS / 2);
	}

	private void failAfterALongTime() {
		try {
			boolean unused = this.answer.await(1100, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new IllegalStateException("Read timed out");
	}

	@Test
	void mayUseAllWorkersIfThereIsOneName() {
		SagaEngine engine = engine(LONG, 20);
		LambdaSaga hanging = saga(engine, "hanging", (step) -> step.run(this::hang));
		engine.open(List.of(hanging));
		IntStream.range(0, 2 * WORKERS).forEach((i) -> start(engine, hanging));
		await().until(() -> engine.running() == WORKERS);
	}

	@Test
	void areInterrupted() {
		SagaEngine engine = engine(LIMIT, 20);
		LambdaSaga waiting = saga(engine, "waiting", (step) -> step.run(() -> {
			if (this.calls.getAndIncrement() == 0) {
				try {
					this.answer.await();
				}
				catch (InterruptedException ex) {
					this.interrupted.add(Thread.currentThread());
					Thread.currentThread().interrupt();
				}
			}
		}));
		engine.open(List.of(waiting));
		IdempotencyKey id = start(engine, waiting);
		await().until(() -> status(id) == SagaStatus.COMPLETED);
		assertThat(this.interrupted).hasSize(1);
		assertThat(this.calls).hasValue(2);
	}

	/**
	 * The first call returns after the second one has: it counts for nothing, and its
	 * caller gets the result of the second one.
	 */
	@Test
	void countForNothingWhenTheyReturnLate() {
		SagaEngine engine = engine(LIMIT, 20);
		SagaEngine another = new SagaEngine(this.store, new NoTransactions(), settings("other", LONG, 20),
				new FailureClassifier(), PayloadEncryption.NONE, List.of());
		engine.open(List.of());
		another.open(List
			.of(new LambdaSaga("late", LONG, () -> another.steps().step("charge", String.class).run(() -> "in time"))));
		LambdaSaga late = new LambdaSaga("late", LONG, () -> engine.steps().step("charge", String.class).run(() -> {
			hang();
			this.returned.incrementAndGet();
			return "late";
		}));
		IdempotencyKey id = Samples.key();
		CompletableFuture<@Nullable Object> caller = new CompletableFuture<>();
		Thread calling = new Thread(() -> {
			try {
				caller.complete(engine.call(late, id, Samples.fingerprint("order"), ARGUMENTS));
			}
			catch (Throwable ex) {
				caller.completeExceptionally(ex);
			}
		});
		calling.setDaemon(true);
		calling.start();
		await().until(() -> this.store.find(id), (saga) -> saga != null && saga.status() == SagaStatus.COMPLETED);
		assertThat(this.returned).hasValue(0);
		this.answer.countDown();
		assertThat(caller).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("in time");
		assertThat(this.returned).hasValue(1);
		another.close();
	}

	@Test
	void areUndoneAfterTheAttempts() {
		SagaEngine engine = engine(LIMIT, 2);
		LambdaSaga hanging = saga(engine, "hanging",
				(step) -> step.cancel((key) -> this.calls.incrementAndGet()).run(this::hang));
		engine.open(List.of(hanging));
		IdempotencyKey id = start(engine, hanging);
		await().until(() -> status(id) == SagaStatus.COMPENSATED);
		assertThat(this.calls).hasValue(1);
		assertThat(Objects.requireNonNull(this.store.find(id)).reason()).contains("has not returned in this process");
	}

	@Test
	void haltTheSagaIfTheyAreItsUndo() {
		SagaEngine engine = engine(LIMIT, 2);
		LambdaSaga hanging = saga(engine, "hanging", (step) -> {
			step.compensate(this::hang).run(this.calls::incrementAndGet);
			throw new UnsupportedOperationException("Undo");
		});
		engine.open(List.of(hanging));
		IdempotencyKey id = start(engine, hanging);
		await().until(() -> status(id) == SagaStatus.HALTED);
		assertThat(this.calls).hasValue(1);
	}

	@Test
	void haveTheLimitThatTheyState() {
		SagaEngine engine = engine(LONG, 20);
		LambdaSaga waiting = saga(engine, "waiting", (step) -> step.timeout(LIMIT).run(() -> {
			if (this.calls.getAndIncrement() == 0) {
				hang();
			}
		}));
		engine.open(List.of(waiting));
		IdempotencyKey id = start(engine, waiting);
		await().until(() -> attempts(id) > 1);
		LambdaSaga invalid = saga(engine, "invalid", (step) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> step.timeout(Duration.ZERO))
				.withMessageContaining("must be positive");
			step.timeout(LIMIT).runInTransaction(() -> {
			});
		});
		IdempotencyKey refused = Samples.key();
		assertThatThrownBy(() -> engine.call(invalid, refused, Samples.fingerprint("order"), ARGUMENTS))
			.isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("time limit");
	}

	private void hang() {
		while (this.answer.getCount() > 0) {
			try {
				this.answer.await();
			}
			catch (InterruptedException ex) {
				// As a client that cannot be interrupted.
			}
		}
	}

	private int attempts(IdempotencyKey id) {
		return find(id).attempts();
	}

	private SagaStatus status(IdempotencyKey id) {
		return find(id).status();
	}

	private StoredSaga find(IdempotencyKey id) {
		return Objects.requireNonNull(this.store.find(id));
	}

	private IdempotencyKey start(SagaEngine engine, LambdaSaga saga) {
		return engine.start(saga, Samples.key(), Samples.fingerprint("order"), ARGUMENTS);
	}

	private static LambdaSaga saga(SagaEngine engine, String name, Consumer<SagaStep<?>> body) {
		return new LambdaSaga(name, LONG, () -> {
			body.accept(engine.steps().step("step"));
			return "";
		});
	}

	private SagaEngine engine(Duration stepTimeout, int attempts) {
		SagaEngine engine = new SagaEngine(this.store, new NoTransactions(), settings("process", stepTimeout, attempts),
				new FailureClassifier(), PayloadEncryption.NONE, List.of());
		this.opened = engine;
		return engine;
	}

	private static SagaSettings settings(String process, Duration stepTimeout, int attempts) {
		return new SagaSettings(process, Duration.ofSeconds(30), LONG, attempts, WORKERS, LONG, LONG, LONG, stepTimeout,
				null);
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
