package dev.idempotent.outbox;

import java.util.List;
import java.util.function.ToIntFunction;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What every store promises about events whose lease was lost, to another instance or to
 * the same one.
 */
public abstract class OutboxStoreFencing extends OutboxStoreSteps {

	@Test
	void doesNotDeleteAnEventThatWasClaimedAgain() {
		ignoresEventsThatWereClaimedAgain(store()::delivered);
	}

	@Test
	void doesNotReleaseAnEventThatWasClaimedAgain() {
		ignoresEventsThatWereClaimedAgain(store()::release);
	}

	@Test
	void doesNotMoveAnEventToWaitingThatWasClaimedAgain() {
		ignoresEventsThatWereClaimedAgain((events) -> postpone(events, LONG));
	}

	@Test
	void doesNotDeadLetterAnEventThatWasClaimedAgain() {
		ignoresEventsThatWereClaimedAgain(this::deadLetter);
	}

	private void ignoresEventsThatWereClaimedAgain(ToIntFunction<List<LeasedEvent>> verb) {
		List<LeasedEvent> late = both(appendLeased("one"), appendAndClaimWaiting("two"));
		passTime();
		List<LeasedEvent> current = both(claim(), claimWaiting());
		assertThat(verb.applyAsInt(late)).isZero();
		assertThat(typesIn(Place.DEAD)).isEmpty();
		assertThat(both(rows(Place.EVENT), rows(Place.WAITING)))
			.extracting((row) -> row.event().type(), OutboxRow::claimId, (row) -> row.event().attempts())
			.containsExactlyElementsOf(current.stream()
				.map((held) -> tuple(held.event().type(), held.claimId(), held.event().attempts()))
				.toList());
		assertThat(both(claim(), claimWaiting())).isEmpty();
		assertThat(verb.applyAsInt(current)).isEqualTo(2);
	}

	@Test
	void showsOnlyCommittedEventsThatAreStillLeased() {
		List<LeasedEvent> lost = appendLeased("lost");
		passTime();
		claim();
		List<LeasedEvent> delivered = appendLeased("delivered");
		store().delivered(delivered);
		List<LeasedEvent> held = appendLeased("held", "also held");
		assertThat(store().committed(both(both(lost, held), delivered))).isEqualTo(held);
	}

	@Test
	void deletesOnlyTheEventsOfABatchThatAreStillLeased() {
		assertThat(store().delivered(partlyLost())).isEqualTo(4);
		assertThat(both(typesIn(Place.EVENT), typesIn(Place.WAITING))).containsExactly("lost", "waiting and lost");
	}

	@Test
	void releasesOnlyTheEventsOfABatchThatAreStillLeased() {
		assertThat(store().release(partlyLost())).isEqualTo(4);
		assertThat(types(claim())).containsExactly("held", "also held");
		assertThat(types(claimWaiting())).containsExactly("waiting and held", "waiting and also held");
	}

	@Test
	void movesToWaitingOnlyTheEventsOfABatchThatAreStillLeased() {
		assertThat(postpone(partlyLost(), LONG)).isEqualTo(4);
		assertThat(typesIn(Place.EVENT)).containsExactly("lost");
		assertThat(rows(Place.WAITING)).filteredOn((row) -> row.claimId() == null)
			.extracting((row) -> row.event().type())
			.containsExactly("held", "also held", "waiting and held", "waiting and also held");
	}

	@Test
	void deadLettersOnlyTheEventsOfABatchThatAreStillLeased() {
		assertThat(deadLetter(partlyLost())).isEqualTo(4);
		assertThat(both(typesIn(Place.EVENT), typesIn(Place.WAITING))).containsExactly("lost", "waiting and lost");
		assertThat(typesIn(Place.DEAD)).containsExactly("held", "also held", "waiting and held",
				"waiting and also held");
	}

	/**
	 * Six events of six claims, two of which have ended.
	 */
	private List<LeasedEvent> partlyLost() {
		List<LeasedEvent> lost = appendLeased("lost");
		List<LeasedEvent> waitingAndLost = appendAndClaimWaiting("waiting and lost");
		passTime();
		assertThat(both(claim(), claimWaiting())).hasSize(2);
		List<LeasedEvent> held = both(appendLeased("held"), appendLeased("also held"));
		List<LeasedEvent> waiting = both(appendAndClaimWaiting("waiting and held"),
				appendAndClaimWaiting("waiting and also held"));
		return both(both(waiting, lost), both(waitingAndLost, held));
	}

	@Test
	void countsADeliveryOnce() {
		List<LeasedEvent> held = both(appendLeased("one"), appendAndClaimWaiting("two"));
		assertThat(store().delivered(held)).isEqualTo(2);
		assertThat(store().delivered(held)).isZero();
		assertThat(store().release(held)).isZero();
		assertThat(postpone(held, LONG)).isZero();
		assertThat(deadLetter(held)).isZero();
		assertThat(both(both(rows(Place.EVENT), rows(Place.WAITING)), rows(Place.DEAD))).isEmpty();
	}

	@Test
	void clearsTheLeaseOfAReleasedEvent() {
		List<LeasedEvent> held = both(appendLeased("one"), appendAndClaimWaiting("two"));
		assertThat(store().release(held)).isEqualTo(2);
		assertThat(store().release(held)).isZero();
		assertThat(store().delivered(held)).isZero();
		assertThat(both(typesIn(Place.EVENT), typesIn(Place.WAITING))).containsExactly("one", "two");
	}

	@Test
	void clearsTheLeaseOfAWaitingEvent() {
		List<LeasedEvent> held = both(appendLeased("one"), appendAndClaimWaiting("two"));
		assertThat(postpone(held, LONG)).isEqualTo(2);
		assertThat(postpone(held, LONG)).isZero();
		assertThat(store().delivered(held)).isZero();
		assertThat(typesIn(Place.WAITING)).containsExactly("one", "two");
	}

	@Test
	void clearsTheLeaseOfADeadEvent() {
		List<LeasedEvent> held = both(appendLeased("one"), appendAndClaimWaiting("two"));
		assertThat(deadLetter(held)).isEqualTo(2);
		assertThat(deadLetter(held)).isZero();
		assertThat(store().delivered(held)).isZero();
		assertThat(typesIn(Place.DEAD)).containsExactly("one", "two");
	}

	@Test
	void acceptsALateDeliveryOfAnEventThatWasNotClaimedAgain() {
		List<LeasedEvent> late = appendLeased("one");
		passTime();
		assertThat(store().delivered(late)).isEqualTo(1);
	}

}
