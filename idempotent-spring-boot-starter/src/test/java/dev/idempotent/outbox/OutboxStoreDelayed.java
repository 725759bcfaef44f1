package dev.idempotent.outbox;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStore.DelayedEvent;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about events that are appended for later.
 */
public abstract class OutboxStoreDelayed extends OutboxStoreSteps {

	@Test
	void appendsDelayedEventsAsWaitingOnesInTheirOrder() {
		appendDelayed(LONG, "one", "two", "three");
		assertThat(rows(Place.EVENT)).isEmpty();
		assertThat(typesIn(Place.WAITING)).containsExactly("one", "two", "three");
		assertThat(rows(Place.WAITING)).allSatisfy((row) -> {
			assertThat(row.claimId()).isNull();
			assertThat(row.reason()).isNull();
			assertThat(row.event().attempts()).isZero();
		});
	}

	@Test
	void keepsAllAttributesOfADelayedEvent() {
		SerializedEvent event = event("one");
		inTransaction(() -> {
			store().appendDelayed(List.of(new DelayedEvent(event, LONG)));
			return true;
		});
		assertThat(EventFacts.of(rows(Place.WAITING).get(0).event())).isEqualTo(EventFacts.of(event, 0));
		assertThat(rows(Place.WAITING).get(0).event().sequence()).isPositive();
	}

	@Test
	void claimsADelayedEventOnlyOnceItIsDue() {
		appendDelayed(LONG, "one");
		assertThat(both(claim(), claimWaiting())).isEmpty();
		passTime();
		assertThat(types(claimWaiting())).containsExactly("one");
	}

	@Test
	void givesDelayedEventsRowsAboveThoseOfEarlierEvents() {
		long before = append("before").get(0).sequence();
		appendDelayed(LONG, "delayed");
		long after = append("after").get(0).sequence();
		assertThat(rows(Place.WAITING).get(0).event().sequence()).isBetween(before + 1, after - 1);
	}

	@Test
	void dropsTheDelayedEventsOfARollback() {
		new TransactionTemplate(tested().transactions()).executeWithoutResult((status) -> {
			store().appendDelayed(List.of(new DelayedEvent(event("one"), LONG)));
			status.setRollbackOnly();
		});
		assertThat(both(rows(Place.EVENT), rows(Place.WAITING))).isEmpty();
	}

	@Test
	void appendsManyDelayedEventsAtOnce() {
		appendDelayed(LONG, IntStream.range(0, 1001).mapToObj(Integer::toString).toArray(String[]::new));
		assertThat(typesIn(Place.WAITING)).hasSize(1001);
	}

	protected final void appendDelayed(Duration delay, String... types) {
		List<DelayedEvent> events = List.of(types)
			.stream()
			.map((type) -> new DelayedEvent(event(type), delay))
			.toList();
		inTransaction(() -> {
			store().appendDelayed(events);
			return true;
		});
	}

}
