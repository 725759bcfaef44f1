package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about events that other programs insert.
 */
public abstract class OutboxStoreForeignRows extends OutboxStoreSteps {

	@Test
	void claimsEventsOfOtherPrograms() {
		UUID id = insert(Duration.ZERO);
		List<LeasedEvent> held = claim();
		assertThat(held).extracting((each) -> each.event().id()).containsExactly(id);
		SerializedEvent event = held.get(0).event();
		assertThat(event.attempts()).isEqualTo(1);
		assertThat(event.key()).isNull();
		assertThat(event.storedHeaders()).containsExactly(Map.entry("content-type", "application/json"));
		assertThat(store().delivered(held)).isEqualTo(1);
		assertThat(rows(Place.EVENT)).isEmpty();
	}

	@Test
	void doesNotClaimDelayedEventsOfOtherPrograms() {
		insert(LONG);
		assertThat(claim()).isEmpty();
		passTime();
		assertThat(claim()).hasSize(1);
	}

	@Test
	void movesDelayedEventsOfOtherProgramsToWaiting() {
		UUID id = insert(LONG);
		assertThat(store().moveDelayedToWaiting(1000)).isPositive();
		assertThat(rows(Place.EVENT)).isEmpty();
		OutboxRow waiting = rows(Place.WAITING).get(0);
		assertThat(waiting.event().id()).isEqualTo(id);
		assertThat(waiting.event().attempts()).isZero();
		assertThat(claimWaiting()).isEmpty();
		passTime();
		List<LeasedEvent> held = claimWaiting();
		assertThat(EventFacts.ofHeld(held)).containsExactly(EventFacts.of(waiting.event(), 1));
		assertThat(held.get(0).event().sequence()).isEqualTo(waiting.event().sequence());
	}

	@Test
	void movesNeitherDueNorLeasedEventsToWaiting() {
		append("due");
		appendLeased("held");
		store().moveDelayedToWaiting(1000);
		assertThat(typesIn(Place.EVENT)).containsExactly("due", "held");
		claim();
		store().moveDelayedToWaiting(1000);
		assertThat(typesIn(Place.EVENT)).containsExactly("due", "held");
		assertThat(rows(Place.WAITING)).isEmpty();
	}

	@Test
	void movesNoMoreDelayedEventsThanTheLimit() {
		store().moveDelayedToWaiting(1000);
		List<UUID> ids = List.of(insert(LONG), insert(LONG), insert(LONG));
		assertThat(store().moveDelayedToWaiting(2)).isEqualTo(2);
		assertThat(rows(Place.WAITING)).extracting((row) -> row.event().id()).isEqualTo(ids.subList(0, 2));
		assertThat(store().moveDelayedToWaiting(2)).isEqualTo(1);
		assertThat(store().moveDelayedToWaiting(2)).isZero();
		assertThat(rows(Place.WAITING)).extracting((row) -> row.event().id()).isEqualTo(ids);
	}

	private UUID insert(Duration delay) {
		UUID id = UUID.randomUUID();
		tested().insert(id, this.publisher + ":orders", delay);
		return id;
	}

}
