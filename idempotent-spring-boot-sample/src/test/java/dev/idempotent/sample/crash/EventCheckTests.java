package dev.idempotent.sample.crash;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.sample.crash.EventCheck.Violation;
import dev.idempotent.sample.crash.EventTraces.Entry;
import dev.idempotent.sample.crash.EventTraces.Fact;
import dev.idempotent.sample.crash.EventTraces.Notification;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EventCheckTests {

	private final Set<Fact> committed = new HashSet<>();

	private final List<Entry> entries = new ArrayList<>();

	private final List<Notification> notifications = new ArrayList<>();

	@Test
	void findsNothingWhereEveryEventWasHandledOnce() {
		committed("order.created");
		committed("order.paid");
		published("order.created", "1", "{}");
		published("order.created", "1", "{}");
		published("order.paid", "2", "{}");
		notified("order.created", "1");
		notified("order.paid", "2");
		assertThat(kinds(true)).isEmpty();
	}

	@Test
	void findsAnEventThatWasNeverPublished() {
		committed("order.created");
		assertThat(kinds(true)).containsExactly("lost event", "lost notification");
	}

	@Test
	void findsAnEventThatWasPublishedAndNeverHandled() {
		committed("order.paid");
		committed("order.created");
		published("order.paid", "1", "{}");
		published("order.created", "2", "{}");
		notified("order.created", "2");
		assertThat(kinds(true)).containsExactly("lost notification");
	}

	@Test
	void looksForNoLossesInAStreamThatHasForgotten() {
		committed("order.created");
		assertThat(kinds(false)).isEmpty();
	}

	@Test
	void findsWhatWasPublishedOfARolledBackTransaction() {
		published("order.created", "1", "{}");
		notified("order.created", "1");
		assertThat(kinds(false)).containsExactly("event of nothing", "notification of nothing");
	}

	@Test
	void findsASecondEventOfTheSameThing() {
		committed("order.created");
		published("order.created", "1", "{}");
		published("order.created", "2", "{}");
		notified("order.created", "1");
		assertThat(kinds(true)).containsExactly("several events");
	}

	@Test
	void findsAnEventThatWasHandledTwice() {
		committed("order.created");
		published("order.created", "1", "{}");
		notified("order.created", "1");
		notified("order.created", "1");
		assertThat(kinds(true)).containsExactly("several notifications", "event handled again");
	}

	@Test
	void findsAnEventWhoseSecondEntryDiffers() {
		committed("order.created");
		published("order.created", "1", "{}");
		published("order.created", "1", "{ }");
		notified("order.created", "1");
		assertThat(kinds(true)).containsExactly("event altered");
	}

	private void committed(String type) {
		this.committed.add(new Fact(type, "order"));
	}

	private void published(String type, String eventId, String payload) {
		this.entries.add(new Entry(this.entries.size() + "-0",
				Map.of("ce_id", eventId, "ce_type", type, "ce_subject", "order", "payload", payload)));
	}

	private void notified(String type, String eventId) {
		this.notifications.add(new Notification(eventId, new Fact(type, "order")));
	}

	private List<String> kinds(boolean streamIsWhole) {
		return EventCheck
			.check(new EventTraces(this.committed, this.committed, this.entries, this.notifications), streamIsWhole)
			.stream()
			.map(Violation::kind)
			.toList();
	}

}
