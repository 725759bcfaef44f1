package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.JdbcEventLists.ListedEvent;
import dev.idempotent.outbox.jdbc.JdbcEventLists.Page;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What operators are promised about the lists of events. Needs tables of its own.
 */
abstract class EventListsContract extends OutboxStoreSteps {

	private static final Duration HOUR = Duration.ofHours(1);

	@Override
	protected abstract StoreOnTables tested();

	@BeforeEach
	void deleteAll() {
		List.of(Place.EVENT, Place.WAITING)
			.forEach((place) -> tested().template().update("delete from " + tested().table(place)));
		tested().template().update("delete from " + tested().tables().control());
	}

	@Test
	void listsEachEventOncePageByPage() {
		append("a", "b", "c", "d", "e");
		List<String> listed = new ArrayList<>();
		Page page = lists().pending(DeadFilter.ALL, null, 2);
		listed.addAll(types(page));
		while (page.next() != null) {
			page = lists().pending(DeadFilter.ALL, page.next(), 2);
			listed.addAll(types(page));
		}
		assertThat(listed).containsExactly("a", "b", "c", "d", "e");
	}

	@Test
	void listsTheStateOfAnEvent() {
		SerializedEvent appended = append("one").get(0);
		ListedEvent due = lists().pending(DeadFilter.ALL, null, 1).events().get(0);
		assertThat(due).isEqualTo(new ListedEvent(new OrderedRow(0, appended.sequence()), appended.id().toString(),
				"one", appended.topic(), 0, due.age(), Duration.ZERO, false, null, "one".length()));
		assertThat(due.age()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
		postpone(claim(), HOUR);
		ListedEvent waiting = lists().waiting(DeadFilter.ALL, null, 1).events().get(0);
		assertThat(waiting.lastError()).isEqualTo("broken");
		assertThat(waiting.attempts()).isEqualTo(1);
		assertThat(waiting.availableIn()).isBetween(HOUR.minusMinutes(2), HOUR);
		appendLeased("held");
		assertThat(lists().pending(DeadFilter.ALL, null, 1).events()).extracting(ListedEvent::leased)
			.containsExactly(true);
	}

	@Test
	void listsOnlyEventsThatMatchAFilter() {
		SerializedEvent one = append("one", "two").get(0);
		assertThat(types(lists().pending(new DeadFilter(one.id(), null, null), null, 5))).containsExactly("one");
		assertThat(types(lists().pending(new DeadFilter(null, "two", one.topic()), null, 5))).containsExactly("two");
		assertThat(types(lists().pending(new DeadFilter(null, "two", "other:x"), null, 5))).isEmpty();
	}

	@Test
	void examinesALimitedNumberOfRowsForAPage() {
		append("one");
		for (int i = 0; i < 14; i++) {
			tested().template()
				.update("insert into " + tested().tables().event()
						+ " (event_id, topic, type, payload, headers) select event_id, topic, type, payload, headers from "
						+ tested().tables().event());
		}
		append("last");
		DeadFilter rare = new DeadFilter(null, "last", null);
		Page first = lists().pending(rare, null, 5);
		assertThat(first.events()).isEmpty();
		assertThat(first.next()).isNotNull();
		Page second = lists().pending(rare, first.next(), 5);
		assertThat(types(second)).containsExactly("last");
		assertThat(second.next()).isNull();
	}

	@Test
	void measuresTheAgeOfTheFirstEventWhoseTopicIsNotPaused() {
		assertThat(lists().oldestUnpausedAge()).isZero();
		append("one");
		tested().template()
			.update("update " + tested().tables().event() + " set created_at = timestamp '2020-01-01 00:00:00'");
		assertThat(lists().oldestUnpausedAge()).isGreaterThan(Duration.ofDays(365));
		new JdbcTopicControl(tested().dataSource(), tested().tables()).pause(this.publisher + ":orders");
		assertThat(lists().oldestUnpausedAge()).isZero();
	}

	private JdbcEventLists lists() {
		return new JdbcEventLists(tested().dataSource(), tested().tables());
	}

	private static List<String> types(Page page) {
		return page.events().stream().map(ListedEvent::type).toList();
	}

}
