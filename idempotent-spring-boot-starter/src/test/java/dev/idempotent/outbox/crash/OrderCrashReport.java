package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.outbox.crash.OrderAudit.Recorded;
import dev.idempotent.testing.Tally;

/**
 * The result of a crash run.
 *
 * @param recorded how many events were committed
 * @param repeated how often the broker got an event again
 * @param delays the times from appends to the broker, sorted
 * @param quiet how long after the faults the tables were empty
 * @param violations by kind
 */
record OrderCrashReport(CrashSettings settings, Tally tally, Map<Boolean, Long> recorded, long repeated,
		List<Duration> delays, Duration quiet, Map<String, List<String>> violations) {

	static OrderCrashReport of(CrashSettings settings, Tally tally, Map<String, Recorded> recorded,
			List<PublishedEvent> published, Map<String, Integer> left, Duration quiet) {
		Map<String, Duration> delays = new HashMap<>();
		published.forEach((event) -> delays.putIfAbsent(event.id(), event.delay()));
		Map<String, List<String>> violations = new TreeMap<>(OrderAudit.violations(recorded, published));
		left.forEach((table, rows) -> violations.put("left in " + table, List.of(rows + " rows")));
		Map<Boolean, Long> counts = new HashMap<>();
		recorded.values().forEach((event) -> counts.merge(event.number() > 0, 1L, Long::sum));
		return new OrderCrashReport(settings, tally, counts, published.size() - delays.size(),
				delays.values().stream().sorted().toList(), quiet, violations);
	}

	private long delay(double quantile) {
		return this.delays.isEmpty() ? 0 : this.delays.get((int) (quantile * (this.delays.size() - 1))).toMillis();
	}

	@Override
	public String toString() {
		return """
				Crash run of ordered events, %s
				  events        %d ordered, %d unordered, %d repeated
				  delivery      half of them within %d ms, 99 %% within %d ms, all within %d ms
				  deaths        %d: kill %d · %s
				  faults        %s
				  transactions  %s
				  quiet         tables empty %d ms after everything was up
				  violations    %s""".formatted(this.settings, this.recorded.getOrDefault(true, 0L),
				this.recorded.getOrDefault(false, 0L), this.repeated, delay(0.5), delay(0.99), delay(1),
				this.tally.sum("kill") + this.tally.sum("halt "), this.tally.sum("kill"), this.tally.list("halt "),
				this.tally.list("fault "), this.tally.list("transaction "), this.quiet.toMillis(),
				OrderAudit.describe(this.violations));
	}

}
