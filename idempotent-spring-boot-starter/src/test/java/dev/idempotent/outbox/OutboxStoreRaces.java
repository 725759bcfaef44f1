package dev.idempotent.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.OutboxRow.Place;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises to concurrent relays.
 */
public abstract class OutboxStoreRaces extends OutboxStoreSteps {

	private static final int EVENTS = 400;

	private static final int RELAYS = 4;

	@Test
	void leasesEachEventToOneOfManyRelays() throws InterruptedException {
		append(IntStream.range(0, EVENTS).mapToObj((i) -> "event " + i).toArray(String[]::new));
		AtomicInteger taken = new AtomicInteger();
		List<List<LeasedEvent>> shares = Race.of(RELAYS, (relay) -> {
			List<LeasedEvent> share = new ArrayList<>();
			while (taken.get() < EVENTS) {
				List<LeasedEvent> claimed = claimAbove(0, 7);
				taken.addAndGet(claimed.size());
				share.addAll(claimed);
			}
			return share;
		});
		assertThat(shares.stream().flatMap(List::stream).map((held) -> held.event().type())).hasSize(EVENTS)
			.doesNotHaveDuplicates();
		assertThat(shares.stream().flatMap(List::stream)).allSatisfy((held) -> {
			assertThat(held.event().attempts()).isEqualTo(1);
			assertThat(store().delivered(List.of(held))).isEqualTo(1);
		});
	}

	@Test
	void leasesEachWaitingEventToOneOfManyRelays() throws InterruptedException {
		append(IntStream.range(0, EVENTS / 4).mapToObj((i) -> "event " + i).toArray(String[]::new));
		postpone(claim(), LONG);
		passTime();
		AtomicInteger taken = new AtomicInteger();
		List<List<LeasedEvent>> shares = Race.of(RELAYS, (relay) -> {
			List<LeasedEvent> share = new ArrayList<>();
			while (taken.get() < EVENTS / 4) {
				List<LeasedEvent> claimed = claimWaiting(7);
				taken.addAndGet(claimed.size());
				share.addAll(claimed);
			}
			return share;
		});
		assertThat(shares.stream().flatMap(List::stream).map((held) -> held.event().type())).hasSize(EVENTS / 4)
			.doesNotHaveDuplicates();
		assertThat(rows(Place.WAITING)).allSatisfy((row) -> assertThat(row.event().attempts()).isEqualTo(2));
	}

	@Test
	void settlesEachEventOnlyOnce() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			List<LeasedEvent> held = appendLeased("one", "two");
			List<Integer> counts = Race.of(RELAYS, (relay) -> switch (relay) {
				case 0 -> store().delivered(held);
				case 1 -> store().release(held);
				case 2 -> postpone(held, LONG);
				default -> deadLetter(held);
			});
			assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(2);
		}
	}

}
