package dev.idempotent.benchmark.outbox;

import java.util.List;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * What PostgreSQL does for an event of a transaction with an order: while it is delivered
 * at once, and as part of a backlog.
 */
final class CostScenario implements Scenario {

	private final List<OutboxContender> contenders;

	private final Load load;

	private final int events;

	CostScenario(List<OutboxContender> contenders, Load load, int events) {
		this.contenders = contenders;
		this.load = load;
		this.events = events;
	}

	@Override
	public String name() {
		return "cost";
	}

	@Override
	public void round(int number, Report report) {
		for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
			measure(contender, true, ", at once", report);
			if (contender.hasBacklog()) {
				measure(contender, false, ", backlog", report);
			}
		}
	}

	private void measure(OutboxContender contender, boolean atOnce, String when, Report report) {
		contender.tidy();
		Cost cost = Cost.begin(contender.shop(), Shop.ORDERS);
		if (atOnce) {
			contender.startDelivery();
		}
		this.load.times(this.events, contender::place);
		if (!atOnce) {
			contender.startDelivery();
		}
		contender.stream().awaitLength(this.events);
		contender.stopDelivery();
		cost.end(report, name(), contender.name(), when, this.events);
	}

}
