package dev.idempotent.sample.crash;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import dev.idempotent.sample.crash.EventTraces.Entry;
import dev.idempotent.sample.crash.EventTraces.Fact;
import dev.idempotent.sample.crash.EventTraces.Notification;

/**
 * Finds events with a broken promise.
 */
final class EventCheck {

	private final EventTraces traces;

	private final List<Violation> violations = new ArrayList<>();

	private final Map<Fact, List<Entry>> published;

	private final Map<Fact, List<Notification>> notified;

	private EventCheck(EventTraces traces) {
		this.traces = traces;
		this.published = group(traces.entries(), Entry::fact);
		this.notified = group(traces.notifications(), Notification::fact);
	}

	/**
	 * Compares what was committed, published and consumed.
	 * @param streamIsWhole whether the stream has every entry that was ever added
	 */
	static List<Violation> check(EventTraces traces, boolean streamIsWhole) {
		EventCheck check = new EventCheck(traces);
		if (streamIsWhole) {
			check.findLost();
		}
		check.findThoseOfNothing();
		check.findSeveral();
		check.findAltered();
		return check.violations;
	}

	private void findLost() {
		for (Fact fact : this.traces.due()) {
			if (!this.published.containsKey(fact)) {
				add("lost event", fact + " was committed and is not in the stream");
			}
			if (!this.notified.containsKey(fact)) {
				add("lost notification", fact + " was committed; entries: " + entries(fact));
			}
		}
	}

	private void findThoseOfNothing() {
		without(this.traces.committed(), this.published.keySet())
			.forEach((fact) -> add("event of nothing", fact + " was not committed; entries: " + entries(fact)));
		without(this.traces.committed(), this.notified.keySet())
			.forEach((fact) -> add("notification of nothing", fact + " was not committed; entries: " + entries(fact)));
	}

	private void findSeveral() {
		this.published.forEach((fact, entries) -> {
			Set<String> ids = entries.stream().map(Entry::eventId).collect(Collectors.toSet());
			if (ids.size() > 1) {
				add("several events", fact + " has the events " + ids);
			}
		});
		this.notified.forEach((fact, notifications) -> {
			if (notifications.size() > 1) {
				add("several notifications", fact + " has " + notifications.size() + "; entries: " + entries(fact));
			}
		});
		group(this.traces.notifications(), Notification::eventId).forEach((id, notifications) -> {
			if (notifications.size() > 1) {
				add("event handled again", id + ": " + notifications);
			}
		});
	}

	/**
	 * Every field of an event is the same in all its entries, also a field that the
	 * standard does not define.
	 */
	private void findAltered() {
		Map<String, Entry> firsts = new HashMap<>();
		for (Entry entry : this.traces.entries()) {
			Entry first = firsts.putIfAbsent(entry.eventId(), entry);
			if (first != null && !first.fields().equals(entry.fields())) {
				Set<Map.Entry<String, String>> differences = new HashSet<>(entry.fields().entrySet());
				differences.removeAll(first.fields().entrySet());
				add("event altered", entry.fact() + ": entries " + first.id() + " and " + entry.id() + " differ in "
						+ differences.stream().map(Map.Entry::getKey).toList());
			}
		}
	}

	private String entries(Fact fact) {
		return this.published.getOrDefault(fact, List.of())
			.stream()
			.map((entry) -> entry.id() + " (event " + entry.eventId() + ")")
			.toList()
			.toString();
	}

	private void add(String kind, String detail) {
		this.violations.add(new Violation(kind, detail));
	}

	private static Set<Fact> without(Set<Fact> some, Set<Fact> all) {
		Set<Fact> rest = new HashSet<>(all);
		rest.removeAll(some);
		return rest;
	}

	private static <K, T> Map<K, List<T>> group(Collection<T> all, Function<T, K> key) {
		return all.stream().collect(Collectors.groupingBy(key));
	}

	/**
	 * A broken promise about an event.
	 *
	 * @param kind which one
	 * @param detail what was found
	 */
	record Violation(String kind, String detail) {

	}

}
