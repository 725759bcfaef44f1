package dev.idempotent.sample.dashboard;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;

/**
 * A saga that has each meter once it has run.
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
	}

}
