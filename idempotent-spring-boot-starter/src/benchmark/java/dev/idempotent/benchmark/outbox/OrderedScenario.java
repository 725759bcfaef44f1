package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.List;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * What order by key adds: the same events with and without keys, in short turns, so that
 * other load affects both.
 */
final class OrderedScenario implements Scenario {

	private static final int TURNS = 6;

	private final OutboxContender unordered;

	private final OutboxContender ordered;

	private final Load load;

	private final Duration time;

	private final int backlog;

	OrderedScenario(OutboxContender unordered, OutboxContender ordered, Load load, Duration time, int backlog) {
		this.unordered = unordered;
		this.ordered = ordered;
		this.load = load;
		this.time = time;
		this.backlog = backlog;
	}

	@Override
	public String name() {
		return "ordered";
	}

	@Override
	public void round(int number, Report report) {
		double[] appended = append(number, report);
		double delivered = endToEnd(report);
		report.add(name(), this.ordered.name(), "  / append only", delivered / appended[1]);
		report.ratio("ordered-end-to-end", delivered / appended[1]);
		double[] drained = drain(number, report);
		report.add(name(), this.ordered.name(), "  / unordered, append", appended[1] / appended[0]);
		report.ratio("ordered-append", appended[1] / appended[0]);
		report.add(name(), this.ordered.name(), "  / unordered, drain", drained[1] / drained[0]);
		report.ratio("ordered-drain", drained[1] / drained[0]);
	}

	private double[] append(int number, Report report) {
		List<OutboxContender> both = List.of(this.unordered, this.ordered);
		both.forEach(OutboxContender::tidy);
		long[] count = new long[2];
		long[] nanos = new long[2];
		for (int turn = 0; turn < TURNS; turn++) {
			for (OutboxContender contender : Rounds.inTurn(both, number + turn)) {
				Throughput appended = this.load.during(this.time.dividedBy(TURNS), contender::place);
				count[both.indexOf(contender)] += appended.count();
				nanos[both.indexOf(contender)] += appended.nanos();
			}
		}
		both.forEach((contender) -> deliver(contender, count[both.indexOf(contender)]));
		return report(both, new double[] { new Throughput(count[0], nanos[0]).perSecond(),
				new Throughput(count[1], nanos[1]).perSecond() }, "tx/s append only", report);
	}

	private double endToEnd(Report report) {
		this.ordered.tidy();
		this.ordered.startDelivery();
		long begin = System.nanoTime();
		Throughput committed = this.load.during(this.time, this.ordered::place);
		this.ordered.stream().awaitLength(committed.count());
		double delivered = new Throughput(committed.count(), System.nanoTime() - begin).perSecond();
		this.ordered.stopDelivery();
		report.add(name(), this.ordered.name(), "tx/s end to end", delivered);
		return delivered;
	}

	private double[] drain(int number, Report report) {
		List<OutboxContender> both = List.of(this.unordered, this.ordered);
		double[] drained = new double[2];
		for (OutboxContender contender : Rounds.inTurn(both, number)) {
			drained[both.indexOf(contender)] = DrainScenario.drain(contender, this.load, this.backlog).perSecond();
		}
		return report(both, drained, "events/s drained", report);
	}

	private double[] report(List<OutboxContender> both, double[] values, String figure, Report report) {
		for (OutboxContender contender : both) {
			report.add(name(), contender.name(), figure, values[both.indexOf(contender)]);
		}
		return values;
	}

	private static void deliver(OutboxContender contender, long count) {
		contender.startDelivery();
		contender.stream().awaitLength(count);
		contender.stopDelivery();
	}

}
