package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What every store promises about events that could not be delivered.
 */
public abstract class OutboxStoreWaiting extends OutboxStoreSteps {

	@Test
	void movesAFailedEventToTheWaitingOnes() {
		append("one", "two");
		assertThat(postpone(claimAbove(0, 1), LONG)).isEqualTo(1);
		assertThat(typesIn(Place.EVENT)).containsExactly("two");
		assertThat(typesIn(Place.WAITING)).containsExactly("one");
		assertThat(types(claim())).containsExactly("two");
	}

	@Test
	void claimsAWaitingEventOnlyOnceItIsDue() {
		append("one");
		postpone(claim(), LONG);
		assertThat(claimWaiting()).isEmpty();
		passTime();
		assertThat(claim()).isEmpty();
		List<LeasedEvent> held = claimWaiting();
		assertThat(types(held)).containsExactly("one");
		assertThat(held.get(0).waiting()).isTrue();
	}

	@Test
	void claimsAWaitingEventWithoutADelayAtOnce() {
		append("one");
		postpone(claim(), Duration.ZERO);
		assertThat(types(claimWaiting())).containsExactly("one");
	}

	@Test
	void keepsAllOfAWaitingEventAndItsReason() {
		SerializedEvent appended = append("one").get(0);
		LeasedEvent held = claim().get(0);
		store().postpone(List.of(new FailedEvent(held, "the broker said no", LONG)));
		OutboxRow row = rows(Place.WAITING).get(0);
		assertThat(EventFacts.of(row.event())).isEqualTo(EventFacts.of(appended, 1));
		assertThat(row.event().sequence()).isEqualTo(appended.sequence());
		assertThat(row.reason()).isEqualTo("the broker said no");
		assertThat(row.claimId()).isNull();
		assertThat(row.owner()).isNull();
		passTime();
		LeasedEvent again = claimWaiting().get(0);
		assertThat(EventFacts.of(again.event())).isEqualTo(EventFacts.of(appended, 2));
		assertThat(again.event().sequence()).isEqualTo(appended.sequence());
	}

	@Test
	void letsAWaitingEventWaitAgain() {
		LeasedEvent held = appendAndClaimWaiting("one").get(0);
		assertThat(store().postpone(List.of(new FailedEvent(held, "no again", LONG)))).isEqualTo(1);
		assertThat(claimWaiting()).isEmpty();
		OutboxRow row = rows(Place.WAITING).get(0);
		assertThat(row.reason()).isEqualTo("no again");
		assertThat(row.claimId()).isNull();
		assertThat(row.owner()).isNull();
		passTime();
		assertThat(claimWaiting()).extracting((each) -> each.event().attempts()).containsExactly(3);
	}

	@Test
	void keepsTheReasonAndDelayOfEachWaitingEvent() {
		append("soon", "later");
		List<LeasedEvent> held = both(claim(), appendAndClaimWaiting("soon again", "later again"));
		store().postpone(held.stream().map((each) -> {
			String type = each.event().type();
			return new FailedEvent(each, "why " + type, type.startsWith("soon") ? Duration.ZERO : LONG);
		}).toList());
		assertThat(rows(Place.WAITING)).hasSize(4)
			.allSatisfy((row) -> assertThat(row.reason()).isEqualTo("why " + row.event().type()));
		assertThat(types(claimWaiting())).containsExactly("soon", "soon again");
	}

	@Test
	void leasesAClaimedWaitingEventUntilTheLeaseEnds() {
		LeasedEvent held = appendAndClaimWaiting("one").get(0);
		OutboxRow row = rows(Place.WAITING).get(0);
		assertThat(row.claimId()).isEqualTo(held.claimId());
		assertThat(row.owner()).isEqualTo(lease().owner());
		assertThat(claimWaiting()).isEmpty();
		passTime();
		assertThat(claimWaiting()).extracting((each) -> each.event().attempts()).containsExactly(3);
	}

	@Test
	void takesBackAnAttemptThatIsNotCounted() {
		append("fresh", "fresh and counted");
		List<LeasedEvent> held = both(claim(), appendAndClaimWaiting("again", "again and counted"));
		store().postpone(held.stream()
			.map((each) -> new FailedEvent(each, "once more", Duration.ZERO, each.event().type().endsWith("counted")))
			.toList());
		assertThat(claimWaiting()).extracting((each) -> each.event().type(), (each) -> each.event().attempts())
			.containsExactly(tuple("fresh", 1), tuple("fresh and counted", 2), tuple("again", 2),
					tuple("again and counted", 3));
	}

	@Test
	void claimsTheOldestDueEventsAndReturnsThemInTheOrderOfTheirRows() {
		append("one", "two", "three");
		List<LeasedEvent> held = claim();
		for (int i = held.size() - 1; i >= 0; i--) {
			postpone(held.subList(i, i + 1), Duration.ZERO);
		}
		assertThat(types(claimWaiting(2))).containsExactly("two", "three");
		assertThat(types(claimWaiting(2))).containsExactly("one");
	}

	@Test
	void releasesAWaitingEventWithoutCountingItsAttempt() {
		assertThat(store().release(appendAndClaimWaiting("one"))).isEqualTo(1);
		assertThat(rows(Place.WAITING)).extracting(OutboxRow::claimId).containsOnlyNulls();
		assertThat(claimWaiting()).extracting((each) -> each.event().attempts()).containsExactly(2);
	}

	@Test
	void deletesAWaitingEventThatIsDelivered() {
		assertThat(store().delivered(appendAndClaimWaiting("one"))).isEqualTo(1);
		assertThat(rows(Place.WAITING)).isEmpty();
		assertThat(rows(Place.DEAD)).isEmpty();
	}

	@Test
	void keepsAllOfADeadEventAndItsReason() {
		SerializedEvent fresh = append("fresh").get(0);
		List<LeasedEvent> held = both(claim(), appendAndClaimWaiting("waiting"));
		assertThat(store()
			.deadLetter(held.stream().map((each) -> new FailedEvent(each, "why " + each.event().type())).toList()))
			.isEqualTo(2);
		assertThat(both(rows(Place.EVENT), rows(Place.WAITING))).isEmpty();
		List<OutboxRow> dead = rows(Place.DEAD);
		assertThat(dead).extracting(OutboxRow::reason).containsExactly("why fresh", "why waiting");
		assertThat(dead).extracting((row) -> row.event().attempts()).containsExactly(1, 2);
		assertThat(dead.get(0).event().sequence()).isEqualTo(fresh.sequence());
		assertThat(EventFacts.of(dead.get(0).event())).isEqualTo(EventFacts.of(fresh, 1));
		assertThat(EventFacts.of(dead.get(1).event())).isEqualTo(EventFacts.of(held.get(1).event()));
	}

	@Test
	void neverClaimsADeadEvent() {
		deadLetter(appendLeased("one"));
		passTime();
		assertThat(both(claim(), claimWaiting())).isEmpty();
		assertThat(typesIn(Place.DEAD)).containsExactly("one");
	}

	@Test
	void keepsTheBeginningOfALongReason() {
		String reason = "x".repeat(999) + "\uD83D\uDE00 and so on";
		store().deadLetter(List.of(new FailedEvent(appendLeased("one").get(0), reason)));
		assertThat(rows(Place.DEAD).get(0).reason()).startsWith("x".repeat(999));
	}

	@Test
	void keepsAReasonWithAnyCharacters() {
		List<LeasedEvent> held = appendLeased("one", "two");
		FailedEvent failed = new FailedEvent(held.get(0), "unexpected byte \u0000 in '\u20AC\uD83D\uDE00'");
		assertThat(store().postpone(List.of(new FailedEvent(held.get(0), failed.reason(), LONG)))).isEqualTo(1);
		assertThat(store().deadLetter(List.of(new FailedEvent(held.get(1), failed.reason())))).isEqualTo(1);
		assertThat(both(rows(Place.WAITING), rows(Place.DEAD))).hasSize(2)
			.allSatisfy((row) -> assertThat(row.reason()).startsWith("unexpected byte ")
				.endsWith(" in '\u20AC\uD83D\uDE00'"));
	}

}
