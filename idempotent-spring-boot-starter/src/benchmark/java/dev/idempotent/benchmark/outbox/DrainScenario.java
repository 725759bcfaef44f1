package dev.idempotent.benchmark.outbox;

import java.util.List;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * A backlog is appended while nothing is delivered; then the time is taken from the start
 * of the delivery until the stream has all of it.
 */
final class DrainScenario implements Scenario {

	// A second or so: fewer rows than that measure the noise.
	private static final int YARDSTICK_ROWS = 100_000;

	private final BatchedInserts yardstick;

	private final List<OutboxContender> contenders;

	private final Load load;

	private final int backlog;

	DrainScenario(BatchedInserts yardstick, List<OutboxContender> contenders, Load load, int backlog) {
		this.yardstick = yardstick;
		this.contenders = contenders.stream().filter(OutboxContender::hasBacklog).toList();
		this.load = load;
		this.backlog = backlog;
	}

	@Override
	public String name() {
		return "drain";
	}

	@Override
	public void round(int number, Report report) {
		for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
			double inserted = this.yardstick.insert(YARDSTICK_ROWS).perSecond();
			report.add(name(), "batched insert", "rows/s", inserted);
			double drained = drain(contender, this.load, this.backlog).perSecond();
			report.add(name(), contender.name(), "events/s", drained);
			report.add(name(), contender.name(), "  / batched insert", drained / inserted);
			report.ratio("drain-" + contender.name(), drained / inserted);
			report.add(name(), contender.name(), "delivered again",
					(double) (contender.stream().length() - this.backlog));
		}
	}

	/**
	 * Appends a backlog and measures its delivery.
	 */
	static Throughput drain(OutboxContender contender, Load load, int backlog) {
		contender.tidy();
		load.times(backlog, contender::place);
		contender.shop().database().tidy();
		long begin = System.nanoTime();
		contender.startDelivery();
		contender.stream().awaitLength(backlog);
		long nanos = System.nanoTime() - begin;
		contender.stopDelivery();
		return new Throughput(backlog, nanos);
	}

}
