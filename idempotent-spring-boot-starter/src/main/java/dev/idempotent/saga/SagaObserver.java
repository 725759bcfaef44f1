package dev.idempotent.saga;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Observes the sagas that this process runs. Called on the thread of the saga; exceptions
 * are logged and have no other effect.
 */
public interface SagaObserver {

	/**
	 * A saga has completed, was undone or was halted.
	 * @param saga the name of the saga
	 * @param status the new status
	 * @param took the time since it began
	 */
	default void ended(String saga, SagaStatus status, Duration took) {
	}

	/**
	 * An action or its undo was called.
	 * @param saga the name of the saga
	 * @param step the name of the step
	 * @param state the resulting state: {@link StepState#DONE}, {@link StepState#REFUSED}
	 * or {@link StepState#COMPENSATED}; {@code null} if the outcome is unknown, or the
	 * undo was refused
	 * @param took how long the call took
	 */
	default void called(String saga, String step, @Nullable StepState state, Duration took) {
	}

	/**
	 * A wait of a saga has ended.
	 * @param saga the name of the saga
	 * @param wait the name of the wait
	 * @param state {@link StepState#DONE} if the signal has arrived or a sleep has ended,
	 * {@link StepState#REFUSED} if the signal did not arrive in time
	 * @param took how long it has lasted
	 */
	default void waited(String saga, String wait, StepState state, Duration took) {
	}

	/**
	 * This process has taken over a saga: its owner has died or released it, or it was
	 * started in the background.
	 * @param saga the name of the saga
	 */
	default void takenOver(String saga) {
	}

	/**
	 * This process has lost a saga that it was running: it has another owner.
	 * @param saga the name of the saga
	 */
	default void fenced(String saga) {
	}

}
