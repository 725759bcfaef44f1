package dev.idempotent.outbox.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import dev.idempotent.outbox.crash.EventBroker.PublishedEvent;

/**
 * Compares the events of a broker with those that were committed.
 */
final class OrderAudit {

	/**
	 * The violations of each kind that are described.
	 */
	private static final int DESCRIBED = 5;

	private final Map<String, List<String>> violations = new TreeMap<>();

	private final Map<String, PublishedEvent> first = new HashMap<>();

	private final Map<String, Integer> highest = new HashMap<>();

	private final Map<String, Recorded> recorded;

	private OrderAudit(Map<String, Recorded> recorded) {
		this.recorded = recorded;
	}

	/**
	 * Finds lost, altered and disordered events, and events of transactions that were
	 * rolled back.
	 * @param recorded the committed events by id
	 * @param published all events of the broker
	 * @return by kind
	 */
	static Map<String, List<String>> violations(Map<String, Recorded> recorded, List<PublishedEvent> published) {
		OrderAudit audit = new OrderAudit(recorded);
		published.forEach(audit::check);
		recorded.forEach((id, event) -> {
			if (!audit.first.containsKey(id)) {
				audit.add("lost", event.toString());
			}
		});
		return audit.violations;
	}

	private void check(PublishedEvent event) {
		PublishedEvent before = this.first.putIfAbsent(event.id(), event);
		if (before != null) {
			if (!before.isSame(event)) {
				add("altered", before + " then " + event);
			}
			return;
		}
		if (!new Recorded(event.key(), event.number()).equals(this.recorded.get(event.id()))) {
			add("of a rollback", event.toString());
		}
		else if (event.number() > 0) {
			int last = this.highest.getOrDefault(event.key(), 0);
			this.highest.put(event.key(), Math.max(last, event.number()));
			if (event.number() < last) {
				add("out of order", event.number() + " after " + last + ": " + event);
			}
		}
	}

	private void add(String kind, String description) {
		this.violations.computeIfAbsent(kind, (key) -> new ArrayList<>()).add(description);
	}

	/**
	 * Lists the number of violations of each kind, and some of them.
	 */
	static String describe(Map<String, List<String>> violations) {
		StringBuilder text = new StringBuilder(violations.isEmpty() ? "none" : "");
		violations.forEach((kind, found) -> {
			text.append("%n    %s: %d".formatted(kind, found.size()));
			found.stream().limit(DESCRIBED).forEach((each) -> text.append("%n      %s".formatted(each)));
		});
		return text.toString();
	}

	/**
	 * A committed event.
	 *
	 * @param number the position of an ordered event within its key, or 0
	 */
	record Recorded(String key, int number) {
	}

}
