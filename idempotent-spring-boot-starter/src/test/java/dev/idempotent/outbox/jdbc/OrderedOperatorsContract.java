package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import dev.idempotent.outbox.DeadEvents.DeadEvent;
import dev.idempotent.outbox.DeadEvents.DeadFilter;
import dev.idempotent.outbox.EventFacts;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OrderedRowState;
import dev.idempotent.outbox.OrderedStoreSteps;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TestedOrderedStore.DeadOrderedEvent;
import dev.idempotent.outbox.jdbc.JdbcBlockedEvents.BlockedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What operators are promised about ordered events that are dead or block their keys.
 */
abstract class OrderedOperatorsContract extends OrderedStoreSteps {

	private static final KeyLimits ONE = new KeyLimits(1, Long.MAX_VALUE, 2, 10);

	@Override
	protected abstract OrderedOnTables tested();

	@Test
	void retriesADeadEventInANewRowWithItsSequence() {
		List<SerializedEvent> rows = append("a1", "a2", "a3");
		assertThat(deadLetter(claim(ONE, "a"))).isEqualTo(1);
		assertThat(dead().retry(ofThisTopic())).isEqualTo(1);
		assertThat(dead().list(ofThisTopic(), 0, 10)).isEmpty();
		List<LeasedEvent> claimed = claim("a");
		assertThat(types(claimed)).containsExactly("a2", "a3", "a1");
		LeasedEvent retried = claimed.get(2);
		assertThat(retried.row()).isGreaterThan(rows.get(2).sequence());
		assertThat(retried.event().sequence()).isEqualTo(rows.get(0).sequence());
		assertThat(EventFacts.of(retried.event())).isEqualTo(EventFacts.of(rows.get(0), 1));
		assertThat(row("a1").reason()).isNull();
	}

	@Test
	void keepsTheSequenceOfAnEventThatDiesAgain() {
		long sequence = append("a1").get(0).sequence();
		for (int i = 0; i < 2; i++) {
			deadLetter(claim("a"));
			assertThat(dead().retry(ofThisTopic())).isEqualTo(1);
		}
		deadLetter(claim("a"));
		assertThat(tested().dead(this.topic)).extracting((each) -> each.event().sequence()).containsExactly(sequence);
	}

	@Test
	void retriesOrderedEventsInTheOrderInWhichTheyDied() {
		append("a1", "a2", "a3");
		List<LeasedEvent> held = claim("a");
		deadLetter(held.subList(0, 1));
		deadLetter(held.subList(1, 2));
		deadLetter(held.subList(2, 3));
		assertThat(dead().retry(ofThisTopic())).isEqualTo(3);
		assertThat(types(claim("a"))).containsExactly("a1", "a2", "a3");
	}

	@Test
	void listsAndDiscardsDeadEventsOfBothKinds() {
		append("a1", "b1");
		deadLetter(claim("a", "b"));
		List<DeadEvent> page = dead().list(ofThisTopic(), 0, 1);
		assertThat(page).extracting(DeadEvent::topic).containsExactly(this.topic);
		assertThat(dead().list(ofThisTopic(), page.get(0).row(), 10)).hasSize(1);
		assertThat(dead().discard(ofThisTopic())).isEqualTo(2);
		assertThat(tested().dead(this.topic)).isEmpty();
	}

	@Test
	void listsBlockedEventsPageByPage() {
		List<SerializedEvent> rows = append("a1", "a2", "b1", "b2", "c1", "d1");
		block(claim(ONE, "a", "b", "c"));
		List<BlockedEvent> all = blocked().list(ofThisTopic(), null, 10);
		assertThat(all).extracting(BlockedEvent::type).containsExactlyInAnyOrder("a1", "b1", "c1");
		List<BlockedEvent> paged = new ArrayList<>(blocked().list(ofThisTopic(), null, 2));
		assertThat(paged).hasSize(2);
		BlockedEvent last = paged.get(1);
		paged.addAll(blocked().list(ofThisTopic(), new OrderedRow(last.keyHash(), last.row()), 2));
		assertThat(paged).extracting(BlockedEvent::row)
			.containsExactlyElementsOf(all.stream().map(BlockedEvent::row).toList());
		BlockedEvent event = all.stream().filter((each) -> each.type().equals("a1")).findFirst().orElseThrow();
		assertThat(event).isEqualTo(new BlockedEvent(rows.get(0).id(), hash("a"), rows.get(0).sequence(), "a1",
				this.topic, 1, event.age(), "blocked", 2));
		assertThat(event.age()).isBetween(Duration.ZERO, Duration.ofMinutes(2));
	}

	@Test
	void retriesABlockedEventFirst() {
		append("a1", "a2");
		block(claim(ONE, "a"));
		assertThat(blocked().retry(ofThisTopic())).isEqualTo(1);
		OrderedRowState row = row("a1");
		assertThat(row.blocked()).isFalse();
		assertThat(row.event().attempts()).isZero();
		assertThat(row.reason()).isNull();
		assertThat(types(claim("a"))).containsExactly("a1", "a2");
	}

	@Test
	void skipsABlockedEvent() {
		List<SerializedEvent> rows = append("a1", "a2");
		block(claim(ONE, "a"));
		assertThat(blocked().skip(ofThisTopic())).isEqualTo(1);
		assertThat(types(claim("a"))).containsExactly("a2");
		assertThat(tested().dead(this.topic)).extracting(DeadOrderedEvent::keyHash, DeadOrderedEvent::reason)
			.containsExactly(tuple(hash("a"), "blocked"));
		assertThat(tested().dead(this.topic).get(0).event().sequence()).isEqualTo(rows.get(0).sequence());
	}

	@Test
	void discardsABlockedEvent() {
		append("a1", "a2");
		block(claim(ONE, "a"));
		assertThat(blocked().discard(ofThisTopic())).isEqualTo(1);
		assertThat(stored()).containsExactly("a2");
		assertThat(tested().dead(this.topic)).isEmpty();
	}

	@Test
	void changesOnlyBlockedEventsThatMatchAFilter() {
		List<SerializedEvent> rows = append("a1", "b1", "c1");
		postpone(claim("c"), LONG);
		block(claim("a", "b"));
		DeadFilter other = new DeadFilter(null, null, this.topic + "2");
		assertThat(blocked().retry(other) + blocked().skip(other) + blocked().discard(other)).isZero();
		assertThat(blocked().discard(new DeadFilter(rows.get(0).id(), null, null))).isEqualTo(1);
		assertThat(blocked().skip(new DeadFilter(null, "b1", this.topic))).isEqualTo(1);
		assertThat(blocked().discard(ofThisTopic())).isZero();
		assertThat(stored()).containsExactly("c1");
	}

	@Test
	void changesManyBlockedEvents() {
		EventLease lease = lease();
		List<OrderedEvent> events = IntStream.range(0, 1100)
			.mapToObj((i) -> OrderedEvent.of(OutboxSamples.event(this.topic, "key " + i, "one", new byte[1], Map.of()))
				.leasedBy(lease))
			.toList();
		List<SerializedEvent> rows = inTransaction(() -> store().append(events));
		block(IntStream.range(0, 1100)
			.mapToObj((i) -> new LeasedEvent(rows.get(i), lease.claimId(),
					new OrderedRow(events.get(i).keyHash(), rows.get(i).sequence())))
			.toList());
		assertThat(blocked().retry(ofThisTopic())).isEqualTo(1100);
		assertThat(blocked().retry(ofThisTopic())).isZero();
	}

	private DeadFilter ofThisTopic() {
		return new DeadFilter(null, null, this.topic);
	}

	private JdbcDeadEvents dead() {
		return new JdbcDeadEvents(tested().tables().dataSource(), tested().tables().tables());
	}

	private JdbcBlockedEvents blocked() {
		return new JdbcBlockedEvents(tested().tables().dataSource(), tested().tables().tables());
	}

}
