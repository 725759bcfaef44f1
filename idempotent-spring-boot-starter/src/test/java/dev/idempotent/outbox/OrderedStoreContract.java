package dev.idempotent.outbox;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about ordered events: appends, heads and claims.
 */
public abstract class OrderedStoreContract extends OrderedStoreSteps {

	@Test
	void returnsTheRowsOfAppendedEventsInTheirOrder() {
		List<SerializedEvent> rows = append("b1", "a1", "b2", "a2");
		assertThat(rows).extracting(SerializedEvent::type).containsExactly("b1", "a1", "b2", "a2");
		assertThat(rows).extracting(SerializedEvent::sequence).doesNotHaveDuplicates().isSorted();
		rows.forEach((event) -> {
			OrderedRowState row = row(event.type());
			assertThat(row.row()).isEqualTo(event.sequence());
			assertThat(row.keyHash()).isEqualTo(hash(event.type().substring(0, 1)));
			assertThat(EventFacts.of(row.event())).isEqualTo(EventFacts.of(event, 0));
		});
	}

	@Test
	void appendsEventsWithAndWithoutLeasesAtOnce() {
		EventLease lease = lease();
		List<SerializedEvent> rows = inTransaction(
				() -> store().append(List.of(event("a1").leasedBy(lease), event("b1"), event("a2").leasedBy(lease))));
		assertThat(rows).extracting(SerializedEvent::attempts).containsExactly(1, 0, 1);
		assertThat(row("a1").claimId()).isEqualTo(lease.claimId());
		assertThat(row("a2").owner()).isEqualTo(OWNER);
		assertThat(row("b1").claimId()).isNull();
		assertThat(types(claim("a", "b"))).containsExactly("b1");
	}

	@Test
	void appendsNothingForNoEvents() {
		assertThat(inTransaction(() -> store().append(List.of()))).isEmpty();
		assertThat(store().heads(List.of())).isEmpty();
		assertThat(store().claim(Map.of(), LIMITS)).isEmpty();
	}

	@Test
	void neverReusesARow() {
		List<LeasedEvent> held = appendLeased("a1", "a2");
		store().delivered(held);
		assertThat(append("a3").get(0).sequence()).isGreaterThan(held.get(1).row());
	}

	@Test
	void readsTheFirstRowOfEachKey() {
		List<SerializedEvent> rows = append("a1", "b1", "a2", "b2");
		List<LeasedEvent> held = appendLeased("c1", "c2");
		Map<Long, Head> heads = store().heads(List.of(hash("a"), hash("b"), hash("c"), hash("d"), hash("a")));
		assertThat(heads).containsOnly(Map.entry(hash("a"), new Head(rows.get(0).sequence(), null, true)),
				Map.entry(hash("b"), new Head(rows.get(1).sequence(), null, true)),
				Map.entry(hash("c"), new Head(held.get(0).row(), held.get(0).claimId(), false)));
	}

	@Test
	void readsAHeadThatIsDueAgainWithItsLastClaim() {
		LeasedEvent held = appendLeased("a1").get(0);
		passTime();
		assertThat(head("a")).isEqualTo(new Head(held.row(), held.claimId(), true));
	}

	@Test
	void readsTheHeadsOfManyKeys() {
		List<OrderedEvent> events = IntStream.range(0, 350)
			.mapToObj((i) -> OrderedEvent.of(OutboxSamples.event(this.topic, "key " + i, "one", new byte[1], Map.of())))
			.toList();
		List<SerializedEvent> rows = inTransaction(() -> store().append(events));
		Map<Long, Head> heads = store().heads(events.stream().map(OrderedEvent::keyHash).toList());
		assertThat(heads).hasSize(350);
		assertThat(heads.get(events.get(349).keyHash())).extracting(Head::row).isEqualTo(rows.get(349).sequence());
	}

	@Test
	void claimsTheFirstEventsOfEachKeyInTheirOrder() {
		append("b1", "a1", "b2", "a2", "c1");
		List<LeasedEvent> claimed = claim("a", "b", "d");
		assertThat(types(claimed)).containsExactly("a1", "a2", "b1", "b2");
		assertThat(claimed).extracting(LeasedEvent::keyHash)
			.isSubsetOf(hash("a"), hash("b"))
			.isSortedAccordingTo((one, other) -> one.equals(other) ? 0 : -1);
		assertThat(row("c1").claimId()).isNull();
	}

	@Test
	void claimsAnEventWithAllItsAttributes() {
		SerializedEvent appended = append("a1").get(0);
		LeasedEvent held = claim("a").get(0);
		assertThat(EventFacts.of(held.event())).isEqualTo(EventFacts.of(appended, 1));
		assertThat(held.event().sequence()).isEqualTo(appended.sequence());
		assertThat(held.row()).isEqualTo(appended.sequence());
		assertThat(held.keyHash()).isEqualTo(hash("a"));
		assertThat(held.waiting()).isFalse();
		assertThat(held.storedBytes()).isEqualTo(2);
		assertThat(held.undeliverable()).isNull();
		OrderedRowState row = row("a1");
		assertThat(row.claimId()).isEqualTo(held.claimId());
		assertThat(row.owner()).isEqualTo(OWNER);
		assertThat(row.event().attempts()).isEqualTo(1);
	}

	@Test
	void leasesClaimedEventsUntilTheLeaseEnds() {
		append("a1", "a2");
		assertThat(types(claim("a"))).containsExactly("a1", "a2");
		assertThat(requireHead("a").due()).isFalse();
		assertThat(claim("a")).isEmpty();
		passTime();
		assertThat(claim("a")).extracting((held) -> held.event().attempts()).containsExactly(2, 2);
	}

	@Test
	void claimsNoEventBehindAHeadThatIsNotDue() {
		appendLeased("a1");
		append("a2", "b1");
		assertThat(types(claim("a", "b"))).containsExactly("b1");
		postpone(claim("b"), LONG);
		append("b2");
		assertThat(claim("a", "b")).isEmpty();
	}

	@Test
	void claimsNoEventBehindOneThatIsNotDue() {
		append("a1");
		appendLeased("a2");
		append("a3");
		assertThat(types(claim("a"))).containsExactly("a1");
		passTime();
		assertThat(types(claim("a"))).containsExactly("a1", "a2", "a3");
	}

	@Test
	void claimsALimitedNumberOfEventsOfEachKey() {
		append("a1", "a2", "a3", "b1", "b2", "b3");
		assertThat(types(claim(new KeyLimits(2, Long.MAX_VALUE, 2, 10), "a", "b"))).containsExactly("a1", "a2", "b1",
				"b2");
	}

	@Test
	void claimsPayloadsUpToALimitButAtLeastOneEvent() {
		inTransaction(() -> store().append(List.of(event("a1", new byte[1000]), event("a2", new byte[1000]),
				event("b1", new byte[1000]), event("b2", new byte[1000]))));
		assertThat(claim(new KeyLimits(32, 1, 2, 10), "a", "b")).hasSize(1);
		passTime();
		assertThat(types(claim(new KeyLimits(32, 1001, 3, 10), "a", "b"))).containsExactly("a1", "b1");
		passTime();
		assertThat(types(claim(new KeyLimits(32, 2000, 4, 10), "a"))).containsExactly("a1", "a2");
		assertThat(row("b2").event().attempts()).isZero();
	}

	@Test
	void claimsAnEventAloneAfterSomeAttempts() {
		append("a1", "a2", "a3");
		KeyLimits limits = new KeyLimits(32, Long.MAX_VALUE, 1, 10);
		assertThat(types(claim(limits, "a"))).containsExactly("a1", "a2", "a3");
		passTime();
		List<LeasedEvent> head = claim(limits, "a");
		assertThat(types(head)).containsExactly("a1");
		assertThat(row("a2").event().attempts()).isEqualTo(1);
		store().delivered(head);
		assertThat(types(claim(limits, "a"))).containsExactly("a2");
	}

	@Test
	void claimsAnEventWithSomeAttemptsNotBehindAnother() {
		append("a1");
		appendLeased("a2");
		append("a3");
		passTime();
		assertThat(types(claim(new KeyLimits(32, Long.MAX_VALUE, 1, 10), "a"))).containsExactly("a1");
	}

	@Test
	void omitsThePayloadOfAnEventWhoseAttemptsAreUsedUp() {
		append("a1");
		KeyLimits limits = new KeyLimits(32, Long.MAX_VALUE, 5, 1);
		assertThat(claim(limits, "a").get(0).event().payload()).asString().isEqualTo("a1");
		passTime();
		LeasedEvent held = claim(limits, "a").get(0);
		assertThat(held.event().payload()).isEmpty();
		assertThat(held.event().attempts()).isEqualTo(2);
		assertThat(row("a1").event().payload()).asString().isEqualTo("a1");
	}

	@Test
	void claimsManyKeysAtOnce() {
		Map<Long, EventLease> leases = new LinkedHashMap<>();
		List<OrderedEvent> events = IntStream.range(0, 700)
			.mapToObj((i) -> OrderedEvent
				.of(OutboxSamples.event(this.topic, "key " + i % 350, "one", new byte[1], Map.of())))
			.toList();
		inTransaction(() -> store().append(events));
		events.forEach((event) -> leases.computeIfAbsent(event.keyHash(), (key) -> lease()));
		List<LeasedEvent> claimed = store().claim(leases, LIMITS);
		assertThat(claimed).hasSize(700)
			.allSatisfy((held) -> assertThat(leases.get(held.keyHash())).extracting(EventLease::claimId)
				.isEqualTo(held.claimId()));
		assertThat(store().delivered(claimed)).isEqualTo(700);
	}

}
