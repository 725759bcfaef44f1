package dev.idempotent.sample.checkout;

import java.time.Instant;
import java.util.List;

import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.SagaStatus;
import org.jspecify.annotations.Nullable;

/**
 * A checkout as clients see it.
 *
 * @param id the id of its saga
 * @param status the status
 * @param reason why it is undone or halted, or {@code null}
 * @param attempts how often it was taken over without progress
 * @param createdAt when it began
 * @param deadline when it is undone unless it is complete
 * @param waiting what it waits for, or {@code null}
 * @param steps the steps and waits that have begun
 */
record CheckoutView(String id, SagaStatus status, @Nullable String reason, int attempts, Instant createdAt,
		Instant deadline, SagaSnapshot.@Nullable Waiting waiting, List<SagaSnapshot.Step> steps) {

	static CheckoutView of(SagaSnapshot saga) {
		return new CheckoutView(saga.id().digest(), saga.status(), saga.reason(), saga.attempts(), saga.createdAt(),
				saga.deadline(), saga.waiting(), saga.steps());
	}

}
