package dev.idempotent.test;

import java.util.Objects;
import java.util.function.Predicate;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.SagaSnapshot;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.StepState;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Waits of sagas in a test, which need not last. A saga must have been started or called
 * in a transaction that has committed. Thread-safe.
 */
public final class SagaWaits {

	private final Sagas sagas;

	private final Predicate<IdempotencyKey> expiry;

	/**
	 * Creates the waits of an application.
	 * @param sagas finds the sagas
	 * @param expiry lets the time of a wait pass; tests {@code false} if the saga does
	 * not wait
	 */
	public SagaWaits(Sagas sagas, Predicate<IdempotencyKey> expiry) {
		this.sagas = sagas;
		this.expiry = expiry;
	}

	/**
	 * Waits until a saga waits for a signal, or sleeps; at most for the default timeout
	 * of Awaitility.
	 * @param id the id of the saga
	 * @param name the name of the signal, or of the sleep
	 * @return the saga
	 * @throws AssertionError if it has ended, needs an operator, or has gone on after
	 * this wait
	 * @throws org.awaitility.core.ConditionTimeoutException if it does not wait in time
	 */
	public SagaSnapshot awaitWait(IdempotencyKey id, String name) {
		return Awaitility.await("saga " + id + " waits for " + name).until(() -> {
			SagaSnapshot saga = find(id);
			if (saga != null && (!saga.status().isOpen() || hasPassed(saga, name))) {
				throw new AssertionError("The saga %s does not wait for '%s': it is %s".formatted(id, name, saga));
			}
			return saga;
		}, (saga) -> saga != null && saga.waiting() != null && saga.waiting().name().equals(name));
	}

	/**
	 * Lets the rest of the time of a wait pass at once, for this saga alone: as much of
	 * its timeout passes, too. The saga goes on in the background within a second.
	 * @param id the id of the saga
	 * @throws IllegalStateException if there is no such saga, or it does not wait
	 */
	public void expire(IdempotencyKey id) {
		if (!this.expiry.test(id)) {
			SagaSnapshot saga = find(id);
			throw new IllegalStateException("The saga " + id + " does not wait"
					+ ((saga != null) ? ": it is " + saga.status() + ". Use awaitWait before"
							: ": there is none with this id. Commit the transaction that starts it before"));
		}
	}

	/**
	 * Waits until a saga has ended, or needs an operator; at most for the default timeout
	 * of Awaitility.
	 * @param id the id of the saga
	 * @return the saga
	 * @throws org.awaitility.core.ConditionTimeoutException if it does not end in time
	 */
	public SagaSnapshot awaitEnd(IdempotencyKey id) {
		SagaSnapshot ended = Awaitility.await("end of saga " + id)
			.until(() -> find(id), (saga) -> saga != null && !saga.status().isOpen());
		return Objects.requireNonNull(ended);
	}

	private static boolean hasPassed(SagaSnapshot saga, String wait) {
		return saga.steps().stream().anyMatch((step) -> step.name().equals(wait) && step.state() != StepState.ACTING);
	}

	private @Nullable SagaSnapshot find(IdempotencyKey id) {
		return this.sagas.find(id).orElse(null);
	}

}
