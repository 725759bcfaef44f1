package dev.idempotent.saga.run;

import java.time.Duration;

import dev.idempotent.saga.StepState;
import org.jspecify.annotations.Nullable;

/**
 * Measures a call of an action or undo, and reports it when it is closed.
 */
final class CalledStep implements AutoCloseable {

	private final SagaRun run;

	private final String step;

	private final long start = System.nanoTime();

	private @Nullable StepState state;

	CalledStep(SagaRun run, String step) {
		this.run = run;
		this.step = step;
	}

	void endedAs(StepState ended) {
		this.state = ended;
	}

	@Override
	public void close() {
		this.run.resources()
			.observers()
			.called(this.run.name(), this.step, this.state, Duration.ofNanos(System.nanoTime() - this.start));
	}

}
