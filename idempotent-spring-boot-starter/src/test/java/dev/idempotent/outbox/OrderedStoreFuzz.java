package dev.idempotent.outbox;

import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.Race;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares stores of ordered events with the model in random histories.
 * {@code -Dfuzz.histories=100000} plays more of them,
 * {@code -Dfuzz.seed=17 -Dfuzz.histories=1} repeats one.
 */
@Tag("fuzz")
public abstract class OrderedStoreFuzz {

	private static final int HISTORIES = Integer.getInteger("fuzz.histories", 10);

	private static final int FIRST_SEED = Integer.getInteger("fuzz.seed", 1);

	private static final int THREADS = 4;

	protected abstract TestedOrderedStore tested();

	@Test
	void answersEachStepOfEveryHistoryAsTheModelDoes() throws InterruptedException {
		AtomicInteger next = new AtomicInteger();
		Race.of(THREADS, (runner) -> {
			for (int i = next.getAndIncrement(); i < HISTORIES; i = next.getAndIncrement()) {
				new OrderedHistory(FIRST_SEED + i, tested()).play();
			}
			return runner;
		});
		assertThat(next).hasValueGreaterThanOrEqualTo(HISTORIES);
	}

}
