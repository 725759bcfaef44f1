package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;

/**
 * From the moment when a transaction has returned to its client until the work of the
 * handler is committed, at a constant rate.
 */
final class HandledLatencyScenario implements Scenario {

	private static final double NANOS_PER_MILLI = 1e6;

	private final List<HandlerContender> contenders;

	private final Load load;

	private final int perSecond;

	private final Duration time;

	HandledLatencyScenario(List<HandlerContender> contenders, Load load, int perSecond, Duration time) {
		this.contenders = contenders;
		this.load = load;
		this.perSecond = perSecond;
		this.time = time;
	}

	@Override
	public String name() {
		return "latency";
	}

	@Override
	public void round(int number, Report report) {
		Map<String, Double> medians = new HashMap<>();
		for (HandlerContender contender : Rounds.inTurn(this.contenders, number)) {
			Samples millis = measure(contender, report);
			report.add(name(), contender.name(), "ms p50", millis.median());
			report.add(name(), contender.name(), "ms p99", millis.percentile(0.99));
			report.add(name(), contender.name(), "ms max", millis.max());
			medians.put(contender.name(), millis.median());
		}
		Double ours = medians.remove(OwnHandlers.TRANSACTIONAL);
		if (ours != null) {
			medians.forEach((name, median) -> report.ratio("handled-p50-vs-" + name, ours / median));
		}
	}

	private Samples measure(HandlerContender contender, Report report) {
		contender.tidy();
		Map<Long, Long> committed = new ConcurrentHashMap<>();
		contender.startHandling();
		this.load.paced(this.perSecond, this.time, (due) -> {
			long order = contender.place();
			committed.put(order, System.nanoTime());
			contender.committed(order);
		});
		Booking booking = contender.booking();
		booking.awaitCount(committed.size());
		contender.awaitEmpty();
		contender.stopHandling();
		report.add(name(), contender.name(), "handled again", booking.again(committed.keySet()));
		return Samples.of(committed.entrySet()
			.stream()
			.mapToDouble((entry) -> (booking.ended(entry.getKey()) - entry.getValue()) / NANOS_PER_MILLI)
			.toArray());
	}

}
