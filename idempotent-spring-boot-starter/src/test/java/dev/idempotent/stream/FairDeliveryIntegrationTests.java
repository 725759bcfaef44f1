package dev.idempotent.stream;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.RealRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for which entry is delivered next, and to which worker.
 */
class FairDeliveryIntegrationTests {

	/**
	 * A failed entry can be claimed again before the next one is read.
	 */
	private static final String[] ALWAYS_DUE = { "idempotent.stream.min-idle-time=2ms",
			"idempotent.stream.max-deliveries=1000000" };

	private static final int MANY = 200;

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private @Nullable ConfigurableApplicationContext instance;

	@AfterEach
	void stop() {
		if (this.instance != null) {
			this.instance.close();
		}
	}

	@Test
	void givesEachWorkerOneEntryAtATime() {
		IntStream.range(0, 8).forEach((i) -> this.stream.add("" + i));
		CyclicBarrier allAtWork = new CyclicBarrier(4);
		Calls calls = new Calls((order, headers) -> allAtWork.await(60, TimeUnit.SECONDS));
		start(FourWorkers.class, calls, "idempotent.stream.min-idle-time=1h");
		await().until(() -> calls.ids().size() == 8 && this.stream.pending() == 0);
		assertThat(calls.ids()).doesNotHaveDuplicates();
	}

	@Test
	void deliversNewEntriesDespiteEntriesThatAlwaysFail() {
		IntStream.range(0, MANY).forEach((i) -> this.stream.add("bad-" + i));
		this.stream.add("good");
		Calls calls = start(OrderListener.class, new Calls((order, headers) -> {
			if (order.id().startsWith("bad")) {
				throw new IllegalStateException();
			}
		}), ALWAYS_DUE);
		await().until(() -> calls.count("good") == 1);
		// Each new entry is followed by at most one old entry.
		assertThat(calls.ids().indexOf("good")).isLessThanOrEqualTo(2 * MANY);
	}

	@Test
	void redeliversDespiteOlderEntriesThatAlwaysFail() {
		IntStream.range(0, MANY).forEach((i) -> this.stream.add("bad-" + i));
		this.stream.add("poor");
		Calls calls = new Calls();
		start(OrderListener.class, (order, headers) -> {
			calls.on(order, headers);
			if (order.id().startsWith("bad") || calls.count("poor") == 1) {
				throw new IllegalStateException();
			}
		}, ALWAYS_DUE);
		await().until(() -> calls.count("poor") == 2);
		// The rest of a round that began before the entry was due, and one whole round.
		int between = calls.ids().lastIndexOf("poor") - calls.ids().indexOf("poor");
		assertThat(between).isLessThanOrEqualTo(2 * MANY + 1);
	}

	@Test
	void throttlesEntriesWhileADatabaseIsUnavailable() {
		IntStream.range(0, MANY).forEach((i) -> this.stream.add("" + i));
		ConcurrentLinkedQueue<Long> times = new ConcurrentLinkedQueue<>();
		start(OrderListener.class, (order, headers) -> {
			times.add(System.nanoTime());
			throw new DataAccessResourceFailureException("away");
		});
		await().until(() -> times.size() >= 20);
		Long[] each = times.toArray(Long[]::new);
		// A pause is at least half of 10, 20, 40, 80 and then always 100 ms.
		assertThat(Duration.ofNanos(each[19] - each[0])).isGreaterThan(Duration.ofMillis(700));
	}

	private <S extends Script> S start(Class<?> listener, S script, String... properties) {
		String[] all = Stream.concat(Stream.of(this.stream.property()), Stream.of(properties)).toArray(String[]::new);
		this.instance = StreamApplication.start(listener, redis, script, all);
		return script;
	}

	static class FourWorkers {

		private final Script script;

		FourWorkers(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.stream}", group = "notifications", concurrency = 4)
		void on(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

}
