package dev.idempotent.benchmark.saga;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import dev.idempotent.benchmark.Database;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;

/**
 * What sagas that wait cost an idle instance, and the time from the commit of a signal to
 * the next step.
 */
final class WaitScenario implements Scenario {

	private final List<WaitContender> all;

	private final Duration idle;

	private final int signals;

	/**
	 * Creates a scenario.
	 * @param idle how long an instance is idle
	 * @param signals how many signals each application sends
	 */
	WaitScenario(List<WaitContender> all, Duration idle, int signals) {
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
		for (WaitContender sagas : this.all) {
			try {
				idle(report, sagas);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			add(report, sagas, "here", false);
			add(report, sagas, "elsewhere", true);
		}
	}

	private void idle(Report report, WaitContender sagas) throws InterruptedException {
		sagas.database().tidy();
		Work before = work(sagas.database());
		long start = System.nanoTime();
		TimeUnit.NANOSECONDS.sleep(this.idle.toNanos());
		Work work = work(sagas.database()).since(before, (System.nanoTime() - start) / 1e9);
		report.add(name(), sagas.name(), "idle: transactions per second", work.transactions());
		report.add(name(), sagas.name(), "idle: pages per second", work.pages());
		report.add(name(), sagas.name(), "idle: rows per second", work.rows());
	}

	/**
	 * The statements and pages of the database; connections report them at the latest
	 * when they have been idle for a second.
	 */
	private static Work work(Database database) {
		return Objects.requireNonNull(database.sql()
			.queryForObject(
					"select xact_commit + xact_rollback, blks_hit + blks_read, tup_fetched + tup_returned"
							+ " from pg_stat_database where datname = current_database()",
					(row, number) -> new Work(row.getDouble(1), row.getDouble(2), row.getDouble(3))));
	}

	private void add(Report report, WaitContender sagas, String where, boolean elsewhere) {
		Samples millis = Samples
			.of(IntStream.range(0, this.signals).mapToDouble((i) -> sagas.signal(elsewhere).toNanos() / 1e6).toArray());
		report.add(name(), sagas.name(), "signal " + where + ": ms p50", millis.median());
		report.add(name(), sagas.name(), "signal " + where + ": ms p99", millis.percentile(0.99));
	}

	/**
	 * What a database does.
	 *
	 * @param transactions how many transactions, each of one query if they find nothing
	 * @param pages how many pages are read, from memory or not
	 * @param rows how many rows are read
	 */
	private record Work(double transactions, double pages, double rows) {

		Work since(Work before, double seconds) {
			return new Work((this.transactions - before.transactions) / seconds, (this.pages - before.pages) / seconds,
					(this.rows - before.rows) / seconds);
		}

	}

}
