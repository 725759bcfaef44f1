package dev.idempotent.benchmark.saga;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Scenario;

/**
 * The time from the last write of an owner that dies until another owner runs its saga.
 */
final class TakeOverScenario implements Scenario {

	private final OwnSagas sagas;

	TakeOverScenario(OwnSagas sagas) {
		this.sagas = sagas;
	}

	@Override
	public String name() {
		return "take-over";
	}

	@Override
	public void round(int number, Report report) {
		this.sagas.tidy();
		report.add(name(), this.sagas.name(), "s after the last write", this.sagas.takeOver().toMillis() / 1e3);
	}

}
