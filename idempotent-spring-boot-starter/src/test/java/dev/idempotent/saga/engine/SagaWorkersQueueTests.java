package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.saga.engine.SagaWorkers.DueSagas;
import dev.idempotent.concurrent.Workers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Started sagas do not wait for the end of their lease, whatever the threads do when they
 * are started.
 */
class SagaWorkersQueueTests {

	private final CountDownLatch ended = new CountDownLatch(3);

	private final CountDownLatch inPoll = new CountDownLatch(1);

	private final CountDownLatch endPoll = new CountDownLatch(1);

	private SagaWorkers workers = workers((names, limit) -> List.of());

	@AfterEach
	void close() {
		this.workers.close();
	}

	@Test
	void runEachTaskAfterThoseBeforeIt() throws InterruptedException {
		for (int i = 0; i < 3; i++) {
			this.workers.submit("saga", this.ended::countDown);
		}
		assertThat(this.ended.await(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void runATaskThatCameWhileDueSagasWereRead() throws InterruptedException {
		this.workers = workers((names, limit) -> {
			this.inPoll.countDown();
			await(this.endPoll);
			return List.of();
		});
		this.workers.start(Set.of("saga"), () -> {
		}, () -> {
		});
		this.inPoll.await();
		for (int i = 0; i < 3; i++) {
			this.workers.submit("saga", this.ended::countDown);
		}
		assertThat(this.ended.getCount()).isEqualTo(3);
		this.endPoll.countDown();
		assertThat(this.ended.await(1, TimeUnit.MINUTES)).isTrue();
	}

	/**
	 * Two names may have half of the workers each, and all of them wait for one service.
	 */
	@Test
	void runOtherSagasIfAllNamesAtOneServiceAreSlow() throws InterruptedException {
		CountDownLatch slow = new CountDownLatch(2);
		CountDownLatch hung = new CountDownLatch(2);
		CountDownLatch answer = new CountDownLatch(1);
		this.workers = workers(4, Duration.ofHours(1), (names, limit) -> List.of());
		this.workers.start(Set.of("charges", "refunds", "others"), () -> {
		}, () -> {
		});
		for (String name : List.of("charges", "refunds")) {
			this.workers.submit(name, () -> {
				SagaWorkers.givingBackSlow().run();
				slow.countDown();
			});
		}
		slow.await();
		AtomicInteger hanging = new AtomicInteger();
		for (int i = 0; i < 4; i++) {
			for (String name : List.of("charges", "refunds")) {
				this.workers.submit(name, () -> {
					hanging.incrementAndGet();
					hung.countDown();
					await(answer);
				});
			}
		}
		hung.await();
		for (int i = 0; i < 3; i++) {
			this.workers.submit("others", this.ended::countDown);
		}
		assertThat(this.ended.await(30, TimeUnit.SECONDS)).isTrue();
		assertThat(hanging).hasValue(2);
		answer.countDown();
	}

	/**
	 * Each of them gives its worker back after its time limit, and cannot be interrupted.
	 */
	@Test
	void limitTheThreadsThatAreStuck() throws InterruptedException {
		CountDownLatch stuck = new CountDownLatch(21);
		CountDownLatch answer = new CountDownLatch(1);
		AtomicInteger started = new AtomicInteger();
		this.workers = workers(2, Duration.ofHours(1), (names, limit) -> List.of());
		this.workers.start(Set.of("charges", "others"), () -> {
		}, () -> {
		});
		for (int i = 0; i < 30; i++) {
			this.workers.submit("charges", () -> {
				started.incrementAndGet();
				SagaWorkers.givingBackSlow().run();
				stuck.countDown();
				await(answer);
			});
		}
		assertThat(stuck.await(1, TimeUnit.MINUTES)).isTrue();
		for (int i = 0; i < 3; i++) {
			this.workers.submit("others", this.ended::countDown);
		}
		assertThat(this.ended.await(1, TimeUnit.MINUTES)).isTrue();
		assertThat(started).hasValue(21);
		answer.countDown();
	}

	/**
	 * As by the timer that interrupts a call, while the thread of the call ends.
	 */
	@Test
	void countNoThreadAsStuckThatHasEnded() throws InterruptedException {
		Queue<Runnable> late = new ConcurrentLinkedQueue<>();
		CountDownLatch answered = new CountDownLatch(30);
		CountDownLatch answer = new CountDownLatch(1);
		this.workers = workers(2, Duration.ofHours(1), (names, limit) -> List.of());
		this.workers.start(Set.of("charges", "others"), () -> {
		}, () -> {
		});
		for (int i = 0; i < 30; i++) {
			this.workers.submit("charges", () -> {
				late.add(SagaWorkers.givingBackSlow());
				answered.countDown();
			});
		}
		assertThat(answered.await(1, TimeUnit.MINUTES)).isTrue();
		for (int i = 0; i < 30; i++) {
			CountDownLatch behind = new CountDownLatch(1);
			this.workers.submit("others", behind::countDown);
			assertThat(behind.await(1, TimeUnit.MINUTES)).isTrue();
		}
		late.forEach(Runnable::run);
		CountDownLatch stuck = new CountDownLatch(10);
		for (int i = 0; i < 10; i++) {
			this.workers.submit("charges", () -> {
				SagaWorkers.givingBackSlow().run();
				stuck.countDown();
				await(answer);
			});
		}
		assertThat(stuck.await(1, TimeUnit.MINUTES)).isTrue();
		answer.countDown();
	}

	@Test
	void renewLeasesUntilTheLastTaskHasEnded() throws InterruptedException {
		CountDownLatch runs = new CountDownLatch(1);
		CountDownLatch renewed = new CountDownLatch(1);
		this.workers = workers(1, Duration.ofMillis(30), (names, limit) -> List.of());
		this.workers.submit("saga", () -> {
			runs.countDown();
			await(renewed);
		});
		runs.await();
		Thread closing = new Thread(this.workers::close);
		this.workers.start(Set.of("saga"), () -> {
			if (this.workers.isClosing()) {
				renewed.countDown();
			}
		}, () -> {
		});
		closing.start();
		assertThat(renewed.await(1, TimeUnit.MINUTES)).isTrue();
		closing.join();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static SagaWorkers workers(DueSagas due) {
		return workers(1, Duration.ofHours(1), due);
	}

	private static SagaWorkers workers(int workers, Duration lease, DueSagas due) {
		Duration hour = Duration.ofHours(1);
		return new SagaWorkers(
				new SagaSettings("process", lease, hour, 1, workers, hour, hour, hour, Duration.ofHours(1), null),
				Workers.daemons("saga-"), due, (saga) -> {
				});
	}

}
