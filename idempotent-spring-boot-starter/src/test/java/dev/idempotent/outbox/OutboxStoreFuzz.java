package dev.idempotent.outbox;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import dev.idempotent.idempotency.Race;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares stores with the model in random histories. {@code -Dfuzz.histories=100000}
 * plays more of them, {@code -Dfuzz.seed=17 -Dfuzz.histories=1} repeats one.
 */
@Tag("fuzz")
@Timeout(value = 1, unit = TimeUnit.HOURS)
public abstract class OutboxStoreFuzz {

	private static final int HISTORIES = Integer.getInteger("fuzz.histories", 15);

	private static final int FIRST_SEED = Integer.getInteger("fuzz.seed", 1);

	private static final int THREADS = 8;

	private static final int STEPS = 60;

	protected abstract TestedOutboxStore tested();

	/**
	 * How many histories can run concurrently: each has its own publishers.
	 */
	protected int historiesAtOnce() {
		return THREADS;
	}

	@Test
	void answersEachStepOfEveryHistoryAsTheModelDoes() throws InterruptedException {
		AtomicInteger next = new AtomicInteger();
		ReadWriteLock others = new ReentrantReadWriteLock();
		List<Integer> played = Race.of(historiesAtOnce(), (runner) -> {
			int count = 0;
			for (int i = next.getAndIncrement(); i < HISTORIES; i = next.getAndIncrement()) {
				new OutboxHistory(FIRST_SEED + i, tested(), others).play();
				count++;
			}
			return count;
		});
		assertThat(played.stream().mapToInt(Integer::intValue).sum()).isEqualTo(HISTORIES);
	}

	@Test
	void keepsEachEventInExactlyOneTable() throws InterruptedException {
		for (int i = 0; i < Math.max(4, HISTORIES / 10); i++) {
			int seed = FIRST_SEED + i;
			OutboxStorm storm = new OutboxStorm(tested());
			Race.of(THREADS, (rider) -> {
				new OutboxStormRider(storm, seed * THREADS + rider).ride(STEPS);
				return rider;
			});
			assertThat(storm.failures()).isEmpty();
			storm.endsWithEachEventInExactlyOneTable();
		}
	}

}
