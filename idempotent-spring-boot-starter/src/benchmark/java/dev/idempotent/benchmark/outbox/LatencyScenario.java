package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.benchmark.Load;
import dev.idempotent.benchmark.Report;
import dev.idempotent.benchmark.Rounds;
import dev.idempotent.benchmark.Samples;
import dev.idempotent.benchmark.Scenario;

/**
 * How long after its commit an event can be read. From the moment when the transaction
 * has returned to its client until a consumer that waits in {@code XREAD BLOCK} has the
 * event: an end that looks the same whatever an outbox does between. It holds Redis and
 * the consumer's wake-up too. An event that is read before the commit has returned counts
 * as less than zero.
 */
final class LatencyScenario implements Scenario {

	private static final double NANOS_PER_MILLI = 1e6;

	private final String name;

	private final List<OutboxContender> contenders;

	private final Load load;

	private final List<Integer> rates;

	private final Duration time;

	LatencyScenario(String name, List<OutboxContender> contenders, Load load, List<Integer> rates, Duration time) {
		this.name = name;
		this.contenders = contenders;
		this.load = load;
		this.rates = rates;
		this.time = time;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public void round(int number, Report report) {
		for (int rate : this.rates) {
			Map<String, Double> medians = new LinkedHashMap<>();
			for (OutboxContender contender : Rounds.inTurn(this.contenders, number)) {
				Samples millis = measure(contender, rate);
				report.add(name(), contender.name(), "ms p50 at %d/s".formatted(rate), millis.median());
				report.add(name(), contender.name(), "ms p99 at %d/s".formatted(rate), millis.percentile(0.99));
				report.add(name(), contender.name(), "ms max at %d/s".formatted(rate), millis.max());
				report.ratio("%s-%d-%s-p50-ms".formatted(name(), rate, contender.name()), millis.median());
				report.ratio("%s-%d-%s-p99-ms".formatted(name(), rate, contender.name()), millis.percentile(0.99));
				medians.put(contender.name(), millis.median());
			}
			Double floor = medians.remove(DirectSender.NAME);
			if (floor != null) {
				medians.forEach((contender, median) -> report.add(name(), contender,
						"  / direct, p50 at %d/s".formatted(rate), median / floor));
			}
		}
	}

	private Samples measure(OutboxContender contender, int perSecond) {
		contender.tidy();
		Map<Long, Long> committed = new ConcurrentHashMap<>();
		contender.startDelivery();
		try (StreamReader reader = contender.stream().read()) {
			long count = this.load.paced(perSecond, this.time, (due) -> {
				long order = contender.place();
				committed.put(order, System.nanoTime());
				contender.committed(order);
			}).count();
			contender.stream().awaitLength(count);
			reader.awaitOrders(committed.keySet());
			return Samples.of(committed.entrySet()
				.stream()
				.mapToDouble((entry) -> (reader.seen(entry.getKey()) - entry.getValue()) / NANOS_PER_MILLI)
				.toArray());
		}
		finally {
			contender.stopDelivery();
		}
	}

}
