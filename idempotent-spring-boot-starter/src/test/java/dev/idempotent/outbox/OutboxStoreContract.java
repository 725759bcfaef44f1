package dev.idempotent.outbox;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxStore.ClaimScope;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What every store promises about events from their append to their delivery.
 */
public abstract class OutboxStoreContract extends OutboxStoreSteps {

	@Test
	void returnsTheRowsOfAppendedEventsInTheirOrder() {
		List<SerializedEvent> rows = append("one", "two", "three");
		assertThat(rows).extracting(SerializedEvent::type).containsExactly("one", "two", "three");
		assertThat(rows).extracting(SerializedEvent::sequence).doesNotHaveDuplicates().isSorted();
		assertThat(rows(Place.EVENT)).extracting((row) -> row.event().sequence())
			.containsExactlyElementsOf(rows.stream().map(SerializedEvent::sequence).toList());
		assertThat(typesIn(Place.EVENT)).containsExactly("one", "two", "three");
	}

	@Test
	void appendsAnEventWithoutALease() {
		assertThat(append("one")).extracting(SerializedEvent::attempts).containsExactly(0);
		OutboxRow row = rows(Place.EVENT).get(0);
		assertThat(row.claimId()).isNull();
		assertThat(row.owner()).isNull();
		assertThat(row.event().attempts()).isZero();
	}

	@Test
	void doesNotClaimAnEventThatWasAppendedWithALeaseUntilItEnds() {
		appendLeased("one");
		assertThat(claim()).isEmpty();
		passTime();
		assertThat(types(claim())).containsExactly("one");
	}

	@Test
	void countsAnAttemptForAnAppendWithALease() {
		List<LeasedEvent> born = appendLeased("one");
		assertThat(born.get(0).event().attempts()).isEqualTo(1);
		OutboxRow row = rows(Place.EVENT).get(0);
		assertThat(row.event().attempts()).isEqualTo(1);
		assertThat(row.claimId()).isEqualTo(born.get(0).claimId());
		assertThat(row.owner()).isEqualTo(lease().owner());
		passTime();
		assertThat(claim().get(0).event().attempts()).isEqualTo(2);
	}

	@Test
	void deletesADeliveredEventThatWasAppendedWithALease() {
		List<LeasedEvent> born = appendLeased("one", "two");
		assertThat(store().delivered(born)).isEqualTo(2);
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	@Test
	void claimsEventsInTheOrderOfTheirRows() {
		append("one", "two");
		append("three");
		assertThat(types(claim())).containsExactly("one", "two", "three");
	}

	@Test
	void claimsAnEventWithAllItsAttributes() {
		List<SerializedEvent> rows = append("one");
		LeasedEvent held = claim().get(0);
		assertThat(EventFacts.of(held.event())).isEqualTo(EventFacts.of(rows.get(0), 1));
		assertThat(held.event().sequence()).isEqualTo(rows.get(0).sequence());
		assertThat(held.waiting()).isFalse();
	}

	@Test
	void leasesAClaimedEventUntilTheLeaseEnds() {
		append("one");
		EventLease lease = lease();
		LeasedEvent held = store().claim(lease, new ClaimScope(false, 0, Set.of(this.publisher), 1)).get(0);
		assertThat(held.claimId()).isEqualTo(lease.claimId());
		assertThat(rows(Place.EVENT)).extracting(OutboxRow::claimId, OutboxRow::owner)
			.containsExactly(tuple(lease.claimId(), lease.owner()));
		assertThat(claim()).isEmpty();
		passTime();
		assertThat(claim()).hasSize(1);
	}

	@Test
	void countsAnAttemptAtEachClaim() {
		append("one");
		for (int attempt = 1; attempt <= 3; attempt++) {
			assertThat(claim().get(0).event().attempts()).isEqualTo(attempt);
			assertThat(rows(Place.EVENT).get(0).event().attempts()).isEqualTo(attempt);
			passTime();
		}
	}

	@Test
	void claimsTheLowestRowsUpToTheLimit() {
		append("one", "two", "three");
		assertThat(types(claimAbove(0, 2))).containsExactly("one", "two");
		assertThat(types(claimAbove(0, 2))).containsExactly("three");
	}

	@Test
	void claimsOnlyRowsAboveTheGivenOne() {
		List<SerializedEvent> rows = append("one", "two", "three");
		assertThat(types(claimAbove(rows.get(0).sequence(), 1000))).containsExactly("two", "three");
		assertThat(types(claim())).containsExactly("one");
	}

	@Test
	void claimsOnlyTopicsOfTheGivenPublishers() {
		String longer = this.publisher + "x";
		String other = "q" + this.publisher;
		for (String each : List.of(this.publisher, longer, other, this.publisher.toUpperCase(Locale.ROOT))) {
			SerializedEvent event = OutboxSamples.event(each + ":orders", null, each, new byte[1], Map.of());
			inTransaction(() -> store().append(List.of(event), null));
		}
		assertThat(types(claim())).containsExactly(this.publisher);
		passTime();
		assertThat(types(store().claim(lease(), new ClaimScope(false, 0, Set.of(this.publisher, other), 1000))))
			.containsExactly(this.publisher, other);
		assertThat(types(store().claim(lease(), new ClaimScope(false, 0, Set.of(longer), 1000))))
			.containsExactly(longer);
	}

	@Test
	void claimsOnlyTheGivenTopicAndNoExcludedOne() {
		for (String destination : List.of("a", "b", "c")) {
			SerializedEvent event = OutboxSamples.event(this.publisher + ":" + destination, null, destination,
					new byte[1], Map.of());
			inTransaction(() -> store().append(List.of(event), null));
		}
		assertThat(types(claim(Set.of(this.publisher + ":a", this.publisher + ":c"), null, Long.MAX_VALUE)))
			.containsExactly("b");
		assertThat(types(claim(Set.of(), this.publisher + ":c", Long.MAX_VALUE))).containsExactly("c");
		assertThat(types(claim())).containsExactly("a");
	}

	@Test
	void claimsPayloadsUpToALimitButAtLeastOneEvent() {
		inTransaction(() -> store().append(
				Stream.of("one", "two", "three", "four").map((type) -> event(type, new byte[1000], Map.of())).toList(),
				null));
		assertThat(types(claim(Set.of(), null, 1))).containsExactly("one");
		assertThat(types(claim(Set.of(), null, 1001))).containsExactly("two", "three");
		assertThat(types(claim(Set.of(), null, 1000))).containsExactly("four");
		passTime();
		assertThat(rows(Place.EVENT)).extracting((row) -> row.event().attempts()).containsOnly(1);
	}

	@Test
	void omitsThePayloadOfAnEventWhoseAttemptsAreUsedUp() {
		inTransaction(() -> store().append(List.of(event("huge")), null));
		for (int attempt = 1; attempt <= 2; attempt++) {
			LeasedEvent held = store()
				.claim(lease(), new ClaimScope(false, 0, Set.of(this.publisher), Set.of(), null, 1, 1, 1))
				.get(0);
			assertThat(held.event().attempts()).isEqualTo(attempt);
			assertThat(held.event().payload()).asString().isEqualTo((attempt == 1) ? "huge" : "");
			passTime();
		}
		assertThat(rows(Place.EVENT).get(0).event().payload()).asString().isEqualTo("huge");
	}

	@Test
	void returnsTheLastRowOfAnyPublisher() {
		List<SerializedEvent> held = appendLeased("one", "two").stream().map(LeasedEvent::event).toList();
		long last = held.get(1).sequence();
		assertThat(store().lastRow(0)).isGreaterThanOrEqualTo(last);
		assertThat(store().lastRow(Long.MAX_VALUE - 1)).isEqualTo(Long.MAX_VALUE - 1);
	}

	private List<LeasedEvent> claim(Set<String> except, @Nullable String topic, long bytes) {
		return store().claim(lease(), new ClaimScope(false, 0, Set.of(this.publisher), except, topic, 1000, bytes, 10));
	}

	@Test
	void deletesADeliveredEvent() {
		append("one", "two");
		assertThat(store().delivered(claimAbove(0, 1))).isEqualTo(1);
		assertThat(typesIn(Place.EVENT)).containsExactly("two");
		assertThat(typesIn(Place.WAITING)).isEmpty();
		assertThat(typesIn(Place.DEAD)).isEmpty();
	}

	@Test
	void releasesAnEventWithoutCountingItsAttempt() {
		append("one", "two");
		assertThat(store().release(claim())).isEqualTo(2);
		assertThat(rows(Place.EVENT)).allSatisfy((row) -> {
			assertThat(row.claimId()).isNull();
			assertThat(row.owner()).isNull();
			assertThat(row.event().attempts()).isZero();
		});
		assertThat(claim()).extracting((held) -> held.event().attempts()).containsExactly(1, 1);
	}

	@Test
	void releasesAnEventThatWasAppendedWithALease() {
		assertThat(store().release(appendLeased("one"))).isEqualTo(1);
		assertThat(claim()).extracting((held) -> held.event().attempts()).containsExactly(1);
	}

	@Test
	void doesNothingForNoEvents() {
		append("one");
		assertThat(store().delivered(List.of())).isZero();
		assertThat(store().release(List.of())).isZero();
		assertThat(store().postpone(List.of())).isZero();
		assertThat(store().deadLetter(List.of())).isZero();
		assertThat(typesIn(Place.EVENT)).containsExactly("one");
	}

}
