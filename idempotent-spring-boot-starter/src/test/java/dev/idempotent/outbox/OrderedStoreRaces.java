package dev.idempotent.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises to concurrent transactions and relays.
 */
public abstract class OrderedStoreRaces extends OrderedStoreSteps {

	private static final int RELAYS = 4;

	private static final String[] KEYS = { "a", "b", "c" };

	private final Map<String, List<Long>> delivered = new ConcurrentHashMap<>();

	@Test
	void leasesEachKeyToOneOfManyRelays() throws InterruptedException {
		int events = 120;
		append(IntStream.range(0, events).mapToObj((i) -> KEYS[i % 3] + i).toArray(String[]::new));
		AtomicInteger taken = new AtomicInteger();
		Race.of(RELAYS, (relay) -> {
			while (taken.get() < events) {
				List<LeasedEvent> claimed = claim(new OrderedOutboxStore.KeyLimits(2, Long.MAX_VALUE, 2, 10), KEYS);
				taken.addAndGet(deliver(claimed));
			}
			return relay;
		});
		assertThat(taken).hasValue(events);
		assertThat(rows()).isEmpty();
		assertThat(this.delivered.values()).hasSize(3)
			.allSatisfy((rows) -> assertThat(rows).isSorted().doesNotHaveDuplicates());
	}

	/**
	 * Of an insert with a later claim, and a delete with a later claim, one finds the
	 * event: there is no other relay.
	 */
	@Test
	void leavesNoEventBehindIfEachTransactionClaimsItsKeysAfterwards() throws InterruptedException {
		for (int round = 0; round < 5; round++) {
			Race.of(2 * RELAYS, (writer) -> {
				for (int i = 0; i < 12; i++) {
					String key = KEYS[(writer + i) % 3];
					append(key + writer + "/" + i);
					deliverAll(key);
				}
				return writer;
			});
			assertThat(rows()).isEmpty();
		}
		assertThat(this.delivered.values()).allSatisfy((rows) -> assertThat(rows).hasSizeGreaterThan(1));
	}

	private void deliverAll(String key) {
		List<LeasedEvent> claimed = claim(key);
		while (!claimed.isEmpty()) {
			assertThat(deliver(claimed)).isEqualTo(claimed.size());
			claimed = claim(key);
		}
	}

	private int deliver(List<LeasedEvent> claimed) {
		claimed.forEach((held) -> this.delivered
			.computeIfAbsent(held.event().type().substring(0, 1), (key) -> new CopyOnWriteArrayList<>())
			.add(held.row()));
		return store().delivered(claimed);
	}

	@Test
	void settlesEachEventOnlyOnce() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			List<LeasedEvent> held = appendLeased("a" + i, "b" + i);
			List<FailedEvent> failed = held.stream().map((each) -> new FailedEvent(each, "why", LONG)).toList();
			List<Integer> counts = Race.of(5, (relay) -> switch (relay) {
				case 0 -> store().delivered(held);
				case 1 -> store().release(held);
				case 2 -> store().postpone(failed);
				case 3 -> store().block(failed);
				default -> store().deadLetter(failed);
			});
			assertThat(counts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(2);
		}
	}

	@Test
	void claimsNoEventBehindOneThatAnotherRelayHolds() throws InterruptedException {
		for (int i = 0; i < 20; i++) {
			String[] types = { "a1", "a2", "a3", "b1", "b2" };
			append(types);
			List<List<LeasedEvent>> claims = Race.of(RELAYS, (relay) -> claim("a", "b"));
			List<LeasedEvent> all = new ArrayList<>(claims.stream().flatMap(List::stream).toList());
			assertThat(types(all)).containsExactly(types);
			Stream.of("a", "b")
				.forEach((key) -> assertThat(
						all.stream().filter((held) -> held.keyHash() == hash(key)).map(LeasedEvent::claimId).distinct())
					.hasSize(1));
			assertThat(store().delivered(all)).isEqualTo(types.length);
		}
	}

}
