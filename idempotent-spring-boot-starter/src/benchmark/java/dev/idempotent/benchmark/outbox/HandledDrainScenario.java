package dev.idempotent.benchmark.outbox;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Scenario;
import dev.idempotent.benchmark.Throughput;

/**
 * Events are recorded while nothing is handled; then the time is taken from the start
 * until the last handler has ended. Whoever calls handlers from memory has its backlog
 * there, too.
 */
final class HandledDrainScenario implements Scenario {

	private final List<HandlerContender> contenders;

	private final Load load;

	private final int backlog;

	HandledDrainScenario(List<HandlerContender> contenders, Load load, int backlog) {
		this.contenders = contenders.stream().filter(HandlerContender::isOutbox).toList();
		this.load = load;
		this.backlog = backlog;
	}

	@Override
	public String name() {
		return "drain";
	}

	@Override
	public void round(int number, Report report) {
		Map<String, Double> rates = new HashMap<>();
		for (HandlerContender contender : Rounds.inTurn(this.contenders, number)) {
			double handled = drain(contender, report).perSecond();
			report.add(name(), contender.name(), "events/s", handled);
			rates.put(contender.name(), handled);
		}
		Double batches = rates.get(OwnHandlers.BATCHES);
		Double loop = rates.get(LoopHandlers.NAME);
		if (batches != null && loop != null) {
			report.ratio("batches-vs-loop", batches / loop);
		}
		Double ours = rates.remove(OwnHandlers.TRANSACTIONAL);
		if (ours != null) {
			rates.forEach((name, rate) -> report.ratio("handled-vs-" + name, ours / rate));
		}
	}

	private Throughput drain(HandlerContender contender, Report report) {
		contender.tidy();
		Set<Long> orders = ConcurrentHashMap.newKeySet();
		this.load.times(this.backlog, () -> orders.add(contender.place()));
		contender.shop().database().tidy();
		long begin = System.nanoTime();
		contender.startHandling();
		contender.booking().awaitCount(this.backlog);
		long nanos = System.nanoTime() - begin;
		contender.awaitEmpty();
		contender.stopHandling();
		report.add(name(), contender.name(), "handled again", contender.booking().again(orders));
		return new Throughput(this.backlog, nanos);
	}

}
