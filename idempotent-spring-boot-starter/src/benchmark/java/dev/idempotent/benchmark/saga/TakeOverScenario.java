package dev.idempotent.benchmark.saga;

import java.util.List;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Scenario;

/**
 * The time from the last write of an owner that dies until another owner runs its saga.
 */
final class TakeOverScenario implements Scenario {

	private final List<OwnSagas> all;

	TakeOverScenario(List<OwnSagas> all) {
		this.all = all;
	}

	@Override
	public String name() {
		return "take-over";
	}

	@Override
	public void round(int number, Report report) {
		for (OwnSagas sagas : this.all) {
			sagas.tidy();
			report.add(name(), sagas.name(), "s after the last write", sagas.takeOver().toMillis() / 1e3);
		}
	}

}
