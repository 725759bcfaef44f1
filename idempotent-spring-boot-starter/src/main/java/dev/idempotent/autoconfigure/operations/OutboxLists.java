package dev.idempotent.autoconfigure.operations;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.jdbc.JdbcEventLists;
import dev.idempotent.outbox.jdbc.JdbcEventLists.ListedEvent;
import dev.idempotent.outbox.jdbc.JdbcEventLists.Page;
import dev.idempotent.outbox.relay.OutboxRelay;
import org.jspecify.annotations.Nullable;

/**
 * The lists of the actuator's endpoint {@code outbox}, except that of dead events.
 */
final class OutboxLists {

	private final JdbcEventLists events;

	private final TopicControl topics;

	OutboxLists(JdbcEventLists events, TopicControl topics) {
		this.events = events;
		this.topics = topics;
	}

	/**
	 * Returns a page of events.
	 * @param state the state of the events
	 * @return {@code null} if there is no such state
	 */
	@Nullable Map<String, @Nullable Object> page(String state, DeadFilter filter, @Nullable String after, int limit) {
		return switch (state) {
			case "pending" ->
				page(state, false, this.events.pending(filter, OutboxRequest.position(after, false), limit));
			case "waiting" ->
				page(state, false, this.events.waiting(filter, OutboxRequest.position(after, false), limit));
			case "ordered", "blocked" -> page(state, true,
					this.events.ordered(filter, OutboxRequest.position(after, true), limit, state.equals("blocked")));
			default -> null;
		};
	}

	/**
	 * Returns what is unavailable to an instance, and the paused topics.
	 */
	List<Circuit> circuits(@Nullable OutboxRelay relay) {
		List<Circuit> circuits = new ArrayList<>();
		if (relay != null) {
			relay.openCircuits()
				.forEach((open) -> circuits
					.add(new Circuit(open.publisher(), open.topic(), "unavailable", open.openFor(), open.nextProbe())));
		}
		this.topics.paused()
			.forEach((paused) -> circuits.add(new Circuit(OutboxTopics.publisher(paused.topic()), paused.topic(),
					"paused", paused.pausedFor(), null)));
		return circuits;
	}

	private static Map<String, @Nullable Object> page(String state, boolean ordered, Page page) {
		Map<String, @Nullable Object> answer = new LinkedHashMap<>();
		answer.put(state, page.events().stream().map(Entry::of).toList());
		OrderedRow next = page.next();
		answer.put("next",
				(next == null) ? null : ordered ? next.keyHash() + "-" + next.row() : Long.valueOf(next.row()));
		return answer;
	}

	/**
	 * An event of a list.
	 */
	record Entry(String id, long row, String type, String topic, int attempts, Duration age,
			@Nullable Duration availableIn, boolean leased, @Nullable String lastError, long payloadBytes) {

		static Entry of(ListedEvent event) {
			return new Entry(event.id(), event.position().row(), event.type(), event.topic(), event.attempts(),
					event.age(), event.availableIn(), event.leased(), event.lastError(), event.payloadBytes());
		}

	}

	/**
	 * A publisher or topic that gets no events.
	 *
	 * @param topic the topic, or {@code null} for the whole publisher
	 * @param state {@code unavailable} or {@code paused}
	 * @param since how long ago this began
	 * @param nextProbe how long until the next probe, or {@code null} if there is none
	 */
	record Circuit(String publisher, @Nullable String topic, String state, Duration since,
			@Nullable Duration nextProbe) {
	}

}
