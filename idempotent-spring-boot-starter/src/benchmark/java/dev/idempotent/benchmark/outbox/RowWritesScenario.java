package dev.idempotent.benchmark.outbox;

import java.util.List;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * How many rows PostgreSQL inserts, updates and deletes for an event, beside the order:
 * while it is delivered at once, and as part of a backlog.
 */
final class RowWritesScenario implements Scenario {

	private final List<OutboxContender> contenders;

	private final Load load;

	private final int events;

	RowWritesScenario(List<OutboxContender> contenders, Load load, int events) {
		this.contenders = contenders;
		this.load = load;
		this.events = events;
	}

	@Override
	public String name() {
		return "row writes";
	}

	@Override
	public void round(int number, Report report) {
		for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
			double atOnce = perEvent(contender, true);
			report.add(name(), contender.name(), "per event, at once", atOnce);
			report.ratio("%s-%s".formatted(name(), contender.name()).replace(' ', '-'), atOnce);
			if (contender.hasBacklog()) {
				report.add(name(), contender.name(), "per event, backlog", perEvent(contender, false));
			}
		}
	}

	private double perEvent(OutboxContender contender, boolean atOnce) {
		contender.tidy();
		long before = contender.otherRowWrites();
		if (atOnce) {
			contender.startDelivery();
		}
		this.load.times(this.events, contender::place);
		if (!atOnce) {
			contender.startDelivery();
		}
		contender.stream().awaitLength(this.events);
		contender.stopDelivery();
		return (double) (contender.otherRowWrites() - before) / this.events;
	}

}
