package dev.idempotent.sample.crash;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

import dev.idempotent.sample.crash.EventCheck.Violation;
import dev.idempotent.sample.crash.EventReport.Figures;
import dev.idempotent.sample.crash.EventTraces.Entry;
import dev.idempotent.sample.crash.EventTraces.Fact;
import dev.idempotent.sample.crash.EventTraces.Notification;
import dev.idempotent.sample.crash.site.CrashSite;
import dev.idempotent.sample.crash.site.OrderStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Follows events from the transactions that appended them, through the outbox and the
 * stream, to what their consumer has written.
 */
final class EventAudit {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final CrashSite site;

	private final JdbcClient jdbc;

	private final List<Violation> violations = new ArrayList<>();

	private Set<Fact> due = Set.of();

	private long longestOutbox;

	private long longestConsumer;

	EventAudit(CrashSite site) {
		this.site = site;
		this.jdbc = site.postgres().jdbc();
	}

	/**
	 * Waits until every event of what is committed by now is published and consumed.
	 * @param calmSince when everything was up, in milliseconds of this machine's clock
	 */
	void settle(long calmSince) {
		this.due = facts();
		await("left in the outbox", () -> count("outbox_event") == 0);
		this.longestOutbox = Math.max(this.longestOutbox, System.currentTimeMillis() - calmSince);
		try (OrderStream stream = this.site.stream()) {
			await("left in the stream", () -> !stream.hasUnread() && stream.pending() == 0);
		}
		this.longestConsumer = Math.max(this.longestConsumer, System.currentTimeMillis() - calmSince);
	}

	/**
	 * A group that Redis has lost is created again.
	 */
	private void await(String kind, Callable<Boolean> quiet) {
		try {
			Awaitility.await(kind).atMost(PATIENCE).ignoreExceptions().until(quiet);
		}
		catch (ConditionTimeoutException ex) {
			this.violations.add(new Violation(kind, "after %d s; %d events, %d of them with an error".formatted(
					PATIENCE.toSeconds(), count("outbox_event"), count("outbox_event where last_error is not null"))));
		}
	}

	/**
	 * Compares all changes since the site was opened. Work of abandoned requests may
	 * still commit: its event is optional.
	 */
	EventReport check() {
		try (OrderStream stream = this.site.stream()) {
			addGivenUp(stream);
			List<Entry> entries = stream.entries()
				.stream()
				.map((entry) -> new Entry(entry.getId(), entry.getBody()))
				.toList();
			List<Notification> notifications = notifications();
			EventTraces traces = new EventTraces(this.due, facts(), entries, notifications);
			this.violations.addAll(EventCheck.check(traces, this.site.redis().keepsStreams()));
			return new EventReport(figures(traces), List.copyOf(this.violations));
		}
	}

	private void addGivenUp(OrderStream stream) {
		this.jdbc.sql("select event_id, type, attempts, last_error from outbox_dead")
			.query()
			.listOfRows()
			.forEach((row) -> this.violations.add(new Violation("dead event", row.toString())));
		stream.dead()
			.forEach((entry) -> this.violations.add(new Violation("dead-lettered by the consumer", entry.toString())));
	}

	private Set<Fact> facts() {
		return this.jdbc.sql("""
				select 'order.created' as type, order_id from orders
				union all select 'order.paid', order_id from payments
				""").query(Fact.class).set();
	}

	private List<Notification> notifications() {
		return this.jdbc.sql("select event_id, type, order_id from notification")
			.query((row, number) -> new Notification(row.getString("event_id"),
					new Fact(row.getString("type"), row.getString("order_id"))))
			.list();
	}

	/**
	 * A call for an event that was handled before has dropped it, unless it has written
	 * another notification.
	 */
	private Figures figures(EventTraces traces) {
		long created = traces.committed().stream().filter((fact) -> fact.type().equals("order.created")).count();
		long repeated = traces.notifications().size()
				- traces.notifications().stream().map(Notification::eventId).distinct().count();
		return new Figures(created, traces.committed().size() - created, traces.entries().size(),
				traces.entries().stream().map(Entry::eventId).distinct().count(), count("delivery"),
				count("delivery where handled_before") - repeated, traces.notifications().size(), this.longestOutbox,
				this.longestConsumer);
	}

	private long count(String from) {
		return this.jdbc.sql("select count(*) from " + from).query(Long.class).single();
	}

}
