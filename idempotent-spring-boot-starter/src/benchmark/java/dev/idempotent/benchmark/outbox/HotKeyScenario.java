package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.function.Supplier;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Several instances append and deliver events of one key: at a rate that one key can
 * have, and as fast as the clients can.
 */
final class HotKeyScenario implements Scenario {

	private static final int PER_SECOND = 100;

	private final OutboxContender contender;

	private final Load load;

	private final Duration time;

	private final int events;

	private final int backlog;

	HotKeyScenario(OutboxContender contender, Load load, Duration time, int events, int backlog) {
		this.contender = contender;
		this.load = load;
		this.time = time;
		this.events = events;
		this.backlog = backlog;
	}

	@Override
	public String name() {
		return "hot key";
	}

	@Override
	public void round(int number, Report report) {
		measure("100/s", () -> this.load.paced(PER_SECOND, this.time, (due) -> this.contender.place()), report);
		measure("full-speed", () -> this.load.times(this.events, this.contender::place), report);
		drain(report);
	}

	private void drain(Report report) {
		this.contender.tidy();
		this.load.times(this.backlog, this.contender::place);
		long begin = System.nanoTime();
		this.contender.startDelivery();
		this.contender.stream().awaitLength(this.backlog);
		Throughput delivered = new Throughput(this.backlog, System.nanoTime() - begin);
		this.contender.stopDelivery();
		report.add(name(), this.contender.name(), "events/s, backlog", delivered.perSecond());
	}

	private void measure(String speed, Supplier<Throughput> appends, Report report) {
		this.contender.tidy();
		long before = this.contender.otherRowWrites();
		this.contender.startDelivery();
		long begin = System.nanoTime();
		long count = appends.get().count();
		this.contender.stream().awaitLength(count);
		Throughput delivered = new Throughput(count, System.nanoTime() - begin);
		this.contender.stopDelivery();
		double writes = (double) (this.contender.otherRowWrites() - before) / count;
		report.add(name(), this.contender.name(), "events/s, " + speed, delivered.perSecond());
		report.add(name(), this.contender.name(), "row writes, " + speed, writes);
		report.ratio("row-writes-hot-key-" + speed, writes);
	}

}
