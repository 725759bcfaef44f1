package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ClaimQueueTests {

	private static final Executor OWN_THREAD = (task) -> new Thread(task).start();

	private final ClaimQueue queue = new ClaimQueue(2, Duration.ofMinutes(2));

	@Test
	void admitsAsManyClaimsAsItHasPlaces() {
		this.queue.enter(Samples.key());
		this.queue.enter(Samples.key());
		CompletableFuture<Void> third = CompletableFuture.runAsync(() -> this.queue.enter(Samples.key()), OWN_THREAD);
		assertThat(third).isNotDone();
		this.queue.leave();
		assertThat(third).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void rejectsAnInterruptedClaimAndKeepsTheInterrupt() {
		this.queue.enter(Samples.key());
		this.queue.enter(Samples.key());
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> this.queue.enter(Samples.key()));
		assertThat(Thread.interrupted()).isTrue();
	}

}
