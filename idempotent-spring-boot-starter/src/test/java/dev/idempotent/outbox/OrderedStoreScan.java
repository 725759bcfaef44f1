package dev.idempotent.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OrderedOutboxStore.HeadScan;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store promises about the search for due heads. Events of other tests may be
 * in the same store.
 */
public abstract class OrderedStoreScan extends OrderedStoreSteps {

	@Test
	void findsTheDueHeadsOfAllKeysInParts() {
		List<String> types = IntStream.range(0, 20).mapToObj((i) -> (char) ('a' + i) + "1").toList();
		append(types.toArray(String[]::new));
		append("a2", "b2", "c2");
		for (int limit : new int[] { 1, 3, 1000 }) {
			assertThat(walk(limit)).hasSize(20).containsKeys(hash("a"), hash("t")).containsValue(this.topic);
		}
	}

	@Test
	void findsNoKeyWhoseHeadIsNotDue() {
		appendLeased("a1");
		append("a2", "b1", "b2", "c1", "d1");
		postpone(claim("b"), LONG);
		block(claim("c"));
		assertThat(walk(2)).containsOnlyKeys(hash("d"));
		passTime();
		assertThat(walk(2)).containsOnlyKeys(hash("a"), hash("b"), hash("d"));
	}

	@Test
	void readsKeysAboveTheGivenOneUpToTheLimit() {
		append("a1", "b1", "c1", "a2", "b2", "c2");
		List<Long> keys = IntStream.range(0, 3).mapToObj((i) -> hash("" + (char) ('a' + i))).sorted().toList();
		HeadScan scan = store().scan(keys.get(0) - 1, 1);
		assertThat(scan).isEqualTo(new HeadScan(Map.of(keys.get(0), this.topic), keys.get(0), false));
		assertThat(store().scan(keys.get(0), 100_000).due()).doesNotContainKey(keys.get(0))
			.containsKeys(keys.get(1), keys.get(2));
	}

	@Test
	void endsAboveTheLastKey() {
		append("a1");
		HeadScan scan = store().scan(Long.MAX_VALUE - 1, 10);
		assertThat(scan).isEqualTo(new HeadScan(Map.of(), Long.MAX_VALUE - 1, true));
		assertThat(store().scan(-1, 100_000).end()).isTrue();
	}

	/**
	 * The due heads of this test, by key.
	 */
	private Map<Long, String> walk(int limit) {
		Map<Long, String> due = new TreeMap<>();
		List<Long> read = new ArrayList<>();
		HeadScan scan = new HeadScan(Map.of(), -1, false);
		while (!scan.end()) {
			scan = store().scan(scan.last(), limit);
			read.add(scan.last());
			due.putAll(scan.due());
		}
		assertThat(read).isSorted();
		due.values().removeIf((topic) -> !topic.equals(this.topic));
		return due;
	}

}
