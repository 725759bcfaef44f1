package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;

/**
 * What sagas that wait cost an idle instance, and the time from the commit of a signal to
 * the next step.
 */
final class WaitScenario implements Scenario {

	private final List<WaitingSagas> all;

	private final Duration idle;

	private final int signals;

	/**
	 * Creates a scenario.
	 * @param idle how long an instance is idle
	 * @param signals how many signals each application sends
	 */
	WaitScenario(List<WaitingSagas> all, Duration idle, int signals) {
		this.all = all;
		this.idle = idle;
		this.signals = signals;
	}

	@Override
	public String name() {
		return "wait";
	}

	@Override
	public void round(int number, Report report) {
		for (WaitingSagas sagas : this.all) {
			try {
				WaitingSagas.Work work = sagas.idle(this.idle);
				report.add(name(), sagas.name(), "idle: transactions per second", work.transactions());
				report.add(name(), sagas.name(), "idle: pages per second", work.pages());
				report.add(name(), sagas.name(), "idle: rows per second", work.rows());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			add(report, sagas, "here", false);
			add(report, sagas, "elsewhere", true);
		}
	}

	private void add(Report report, WaitingSagas sagas, String where, boolean elsewhere) {
		Samples millis = Samples
			.of(IntStream.range(0, this.signals).mapToDouble((i) -> sagas.signal(elsewhere).toNanos() / 1e6).toArray());
		report.add(name(), sagas.name(), "signal " + where + ": ms p50", millis.median());
		report.add(name(), sagas.name(), "signal " + where + ": ms p99", millis.percentile(0.99));
	}

}
