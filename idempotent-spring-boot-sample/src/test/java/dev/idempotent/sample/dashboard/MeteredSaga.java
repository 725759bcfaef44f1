package dev.idempotent.sample.dashboard;

import java.time.Duration;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;

/**
 * A saga that has each meter once it has run with its signal.
 */
class MeteredSaga {

	private final SagaSteps saga;

	MeteredSaga(SagaSteps saga) {
		this.saga = saga;
	}

	@Saga(key = "#id", name = "metered")
	public void run(String id) {
		this.saga.step("work").runInTransaction(() -> {
		});
		this.saga.await("signal").within(Duration.ofMinutes(1));
	}

}
