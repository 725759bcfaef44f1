package dev.idempotent.outbox.crash;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import dev.idempotent.outbox.crash.OrderAudit.Recorded;
import dev.idempotent.testing.Tally;

/**
 * The result of a crash run.
 *
 * @param recorded the committed events
 * @param published how often the broker got an event
 * @param delays the times from appends to the first occurrences, sorted
 * @param standstill the longest time for which the broker got no next event of a key
 * although there was one
 * @param quiet how long after the faults the tables were empty
 * @param violations by kind
 */
record OrderCrashReport(CrashSettings settings, Tally tally, Map<String, Recorded> recorded, int published,
		List<Duration> delays, Duration standstill, Duration quiet, Map<String, List<String>> violations) {

	static OrderCrashReport of(CrashSettings settings, Tally tally, Map<String, Recorded> recorded,
			List<PublishedEvent> published, Map<String, Integer> left, Duration quiet) {
		Set<String> seen = new HashSet<>();
		List<Duration> delays = new ArrayList<>();
		Map<String, Instant> last = new HashMap<>();
		Duration standstill = Duration.ZERO;
		for (PublishedEvent event : published) {
			if (seen.add(event.id())) {
				delays.add(Duration.between(event.appended(), event.published()));
				if (event.number() > 0) {
					Instant before = last.getOrDefault(event.key(), Instant.EPOCH);
					Instant since = before.isAfter(event.appended()) ? before : event.appended();
					Duration waited = Duration.between(since, event.published());
					standstill = (waited.compareTo(standstill) > 0) ? waited : standstill;
					last.put(event.key(), event.published());
				}
			}
		}
		Map<String, List<String>> violations = new TreeMap<>(OrderAudit.violations(recorded, published));
		left.forEach((table, rows) -> violations.put("left in " + table, List.of(rows + " rows")));
		return new OrderCrashReport(settings, tally, recorded, published.size(), delays.stream().sorted().toList(),
				standstill, quiet, violations);
	}

	private long delay(double quantile) {
		return this.delays.isEmpty() ? 0 : this.delays.get((int) (quantile * (this.delays.size() - 1))).toMillis();
	}

	@Override
	public String toString() {
		Stream<Recorded> events = this.recorded.values().stream();
		long ordered = events.filter((event) -> event.number() > 0).count();
		return """
				Crash run, %s
				  events        %d ordered, %d unordered, %d repeated
				  delivery      half of them within %d ms, 99 %% within %d ms, all within %d ms
				  standstill    of a key at most %d ms
				  deaths        kill %d · halt at %s · end %s
				  faults        %s
				  transactions  %s
				  quiet         tables empty %d ms after everything was up
				  violations    %s""".formatted(this.settings, ordered, this.recorded.size() - ordered,
				this.published - this.delays.size(), delay(0.5), delay(0.99), delay(1), this.standstill.toMillis(),
				this.tally.sum("kill"), this.tally.list("halt at "), this.tally.list("end "), this.tally.list("fault "),
				this.tally.list("transaction "), this.quiet.toMillis(), OrderAudit.describe(this.violations));
	}

}
