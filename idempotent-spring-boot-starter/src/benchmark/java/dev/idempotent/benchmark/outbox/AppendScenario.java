package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.List;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Transactions with one event, as fast as the clients can: first without delivery, then
 * with it until all has been delivered. The yardstick, the same transactions without an
 * event, is taken before and after the first.
 */
final class AppendScenario implements Scenario {

	private final BareShop bare;

	private final List<OutboxContender> contenders;

	private final Load load;

	private final Duration time;

	AppendScenario(BareShop bare, List<OutboxContender> contenders, Load load, Duration time) {
		this.bare = bare;
		this.contenders = contenders;
		this.load = load;
		this.time = time;
	}

	@Override
	public String name() {
		return "append";
	}

	@Override
	public void round(int number, Report report) {
		for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
			double before = bare();
			double appended = appendOnly(contender);
			double bare = (before + bare()) / 2;
			report.add(name(), this.bare.name(), "tx/s", bare);
			report.add(name(), contender.name(), "tx/s append only", appended);
			report.add(name(), contender.name(), "  / bare", appended / bare);
			report.ratio("append-" + contender.name(), appended / bare);
			endToEnd(contender, bare, appended, report);
		}
	}

	private double bare() {
		this.bare.database().tidy();
		return this.load.during(this.time, this.bare::place).perSecond();
	}

	private double appendOnly(OutboxContender contender) {
		contender.tidy();
		Throughput appended = this.load.during(this.time, contender::place);
		contender.startDelivery();
		contender.stream().awaitLength(appended.count());
		contender.stopDelivery();
		return appended.perSecond();
	}

	private void endToEnd(OutboxContender contender, double bare, double appended, Report report) {
		contender.tidy();
		contender.startDelivery();
		long begin = System.nanoTime();
		Throughput committed = this.load.during(this.time, contender::place);
		contender.stream().awaitLength(committed.count());
		double delivered = new Throughput(committed.count(), System.nanoTime() - begin).perSecond();
		contender.stopDelivery();
		report.add(name(), contender.name(), "tx/s while delivering", committed.perSecond());
		report.add(name(), contender.name(), "tx/s end to end", delivered);
		report.add(name(), contender.name(), "  / bare (end to end)", delivered / bare);
		report.add(name(), contender.name(), "  / append only", delivered / appended);
		report.ratio("end-to-end-" + contender.name(), delivered / appended);
		report.add(name(), contender.name(), "delivered again",
				(double) (contender.stream().length() - committed.count()));
	}

}
