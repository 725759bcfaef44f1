package dev.idempotent.idempotency;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random histories and races on a store. {@code -Dfuzz.histories=100000} runs more
 * histories, {@code -Dfuzz.seed=17 -Dfuzz.histories=1} repeats one.
 */
@Tag("fuzz")
@Timeout(value = 1, unit = TimeUnit.HOURS)
public abstract class IdempotencyStoreFuzz {

	private static final int HISTORIES = Integer.getInteger("fuzz.histories", 25);

	private static final int FIRST_SEED = Integer.getInteger("fuzz.seed", 1);

	private static final int THREADS = 8;

	private static final int KEYS = 3;

	private static final int ATTEMPTS = 60;

	/**
	 * The store under test, empty or not.
	 */
	protected abstract IdempotencyStore store();

	/**
	 * Removes a key from the store under test, as its expiry would.
	 */
	protected abstract void forget(IdempotencyKey key);

	@Test
	void answersEachStepOfEveryHistoryAsTheModelDoes() throws InterruptedException {
		AtomicInteger next = new AtomicInteger();
		List<Integer> played = Race.of(THREADS, (runner) -> {
			int count = 0;
			for (int i = next.getAndIncrement(); i < HISTORIES; i = next.getAndIncrement()) {
				new FuzzHistory(FIRST_SEED + i, store(), this::forget).play();
				count++;
			}
			return count;
		});
		assertThat(played.stream().mapToInt(Integer::intValue).sum()).isEqualTo(HISTORIES);
	}

	@Test
	void neverGrantsAKeyToTwoOwnersOrStoresTwoResponses() throws InterruptedException {
		for (int i = 0; i < Math.max(10, HISTORIES / 10); i++) {
			int seed = FIRST_SEED + i;
			List<FoughtOverKey> keys = Stream.generate(() -> new FoughtOverKey(store())).limit(KEYS).toList();
			Race.of(THREADS, (runner) -> {
				FuzzFighter fighter = new FuzzFighter(store(), "token " + runner, seed * THREADS + runner);
				for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
					fighter.attempt(keys.get(attempt % KEYS));
				}
				return runner;
			});
			assertThat(keys).allSatisfy(FoughtOverKey::endsWithTheOneResponseThatAllHaveSeen);
		}
	}

}
