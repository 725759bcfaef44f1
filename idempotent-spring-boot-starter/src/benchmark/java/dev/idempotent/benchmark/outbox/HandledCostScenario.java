package dev.idempotent.benchmark.outbox;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;

/**
 * What PostgreSQL does for an event that is handled at once, and as part of a backlog.
 */
final class HandledCostScenario implements Scenario {

	private final List<HandlerContender> contenders;

	private final Load load;

	private final int events;

	HandledCostScenario(List<HandlerContender> contenders, Load load, int events) {
		this.contenders = contenders.stream().filter(HandlerContender::isOutbox).toList();
		this.load = load;
		this.events = events;
	}

	@Override
	public String name() {
		return "cost";
	}

	@Override
	public void round(int number, Report report) {
		for (HandlerContender contender : Rounds.inTurn(this.contenders, number)) {
			measure(contender, true, ", at once", report);
			measure(contender, false, ", backlog", report);
		}
	}

	private void measure(HandlerContender contender, boolean atOnce, String when, Report report) {
		contender.tidy();
		Cost cost = Cost.begin(contender.shop(), Shop.ORDERS, Booking.TABLE);
		if (atOnce) {
			contender.startHandling();
		}
		Set<Long> orders = ConcurrentHashMap.newKeySet();
		this.load.times(this.events, () -> orders.add(contender.place()));
		contender.startHandling();
		contender.booking().awaitCount(this.events);
		contender.awaitEmpty();
		contender.stopHandling();
		cost.end(report, name(), contender.name(), when, this.events);
		contender.booking().again(orders);
	}

}
