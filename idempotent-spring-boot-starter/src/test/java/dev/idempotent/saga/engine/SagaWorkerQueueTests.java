package dev.idempotent.saga.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.idempotent.saga.engine.SagaWorkers.DueSagas;
import dev.idempotent.work.Workers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Started sagas do not wait for the end of their lease, whatever the threads do when they
 * are started.
 */
class SagaWorkerQueueTests {

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

	@Test
	void renewLeasesUntilTheLastTaskHasEnded() throws InterruptedException {
		CountDownLatch runs = new CountDownLatch(1);
		CountDownLatch renewed = new CountDownLatch(1);
		this.workers = workers(Duration.ofMillis(30), (names, limit) -> List.of());
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
		return workers(Duration.ofHours(1), due);
	}

	private static SagaWorkers workers(Duration lease, DueSagas due) {
		Duration hour = Duration.ofHours(1);
		return new SagaWorkers(
				new SagaSettings("process", lease, hour, 1, 1, hour, hour, hour, Duration.ofHours(1), null),
				Workers.daemons("saga-"), due, (saga) -> {
				});
	}

}
