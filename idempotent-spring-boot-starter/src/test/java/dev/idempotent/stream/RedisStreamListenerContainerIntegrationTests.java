package dev.idempotent.stream;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisStreamListenerContainer}.
 */
class RedisStreamListenerContainerIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	@AfterEach
	void stop() {
		this.instances.forEach(ConfigurableApplicationContext::close);
	}

	@Test
	void deliversEntriesAddedBeforeTheFirstStart() {
		this.stream.add("early");
		Calls calls = start(new Calls((order, headers) -> {
			assertThat(order).isEqualTo(new StreamApplication.Order("early", 1));
			assertThat(headers).containsExactlyEntriesOf(Map.of("ce_id", "early"));
		}));
		await().until(() -> calls.count("early") == 1 && this.stream.pending() == 0);
	}

	@Test
	void deliversEntriesInOrder() {
		IntStream.range(0, 100).forEach((i) -> this.stream.add("" + i));
		Calls calls = start(new Calls());
		await().until(() -> calls.ids().size() == 100);
		assertThat(calls.ids()).isEqualTo(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
	}

	@Test
	void acknowledgesOnceTheMethodReturns() throws Exception {
		Gate gate = new Gate();
		start(new Calls((order, headers) -> gate.pass()));
		this.stream.add("held");
		gate.awaitEntry();
		assertThat(this.stream.pending()).isOne();
		gate.open();
		await().until(() -> this.stream.pending() == 0);
	}

	@Test
	void redeliversAfterAnException() {
		Calls calls = start(new Calls(failing("poor", 3)), "idempotent.stream.max-deliveries=4");
		this.stream.add("poor");
		this.stream.add("next");
		await().until(() -> calls.count("poor") == 4 && this.stream.pending() == 0);
		assertThat(calls.count("next")).isOne();
		assertThat(this.stream.dead()).isEmpty();
	}

	@Test
	void claimsEntriesOfADeadConsumer() {
		Stream.of("a", "b", "c").forEach(this.stream::add);
		this.stream.readAndDie();
		Calls calls = start(new Calls());
		await().until(() -> calls.ids().size() == 3 && this.stream.pending() == 0);
		assertThat(calls.ids()).containsExactly("a", "b", "c");
	}

	@Test
	void doesNotClaimAnEntryThatIsBeingProcessed() throws Exception {
		Gate gate = new Gate();
		Calls first = start(new Calls((order, headers) -> gate.pass()), "idempotent.stream.min-idle-time=15s");
		this.stream.add("slow");
		this.stream.add("behind");
		gate.awaitEntry();
		Calls second = start(new Calls(), "idempotent.stream.min-idle-time=15s");
		awaitRenewal();
		gate.open();
		await().until(() -> this.stream.pending() == 0);
		assertThat(first.ids()).containsOnlyOnce("slow");
		assertThat(second.ids()).doesNotContain("slow");
		assertThat(first.count("behind") + second.count("behind")).isOne();
	}

	@Test
	void sharesAStreamBetweenInstances() {
		CyclicBarrier bothAtWork = new CyclicBarrier(2);
		Calls first = new Calls();
		Calls second = new Calls();
		for (Calls calls : List.of(first, second)) {
			start((order, headers) -> {
				if (calls.ids().isEmpty()) {
					bothAtWork.await(60, TimeUnit.SECONDS);
				}
				calls.on(order, headers);
			}, "idempotent.stream.min-idle-time=1h");
		}
		IntStream.range(0, 200).forEach((i) -> this.stream.add("" + i));
		await().until(() -> first.ids().size() + second.ids().size() >= 200 && this.stream.pending() == 0);
		assertThat(first.ids()).isNotEmpty();
		assertThat(second.ids()).isNotEmpty();
		assertThat(Stream.concat(first.ids().stream(), second.ids().stream()))
			.containsExactlyInAnyOrderElementsOf(IntStream.range(0, 200).mapToObj(Integer::toString).toList());
	}

	@Test
	void finishesTheCurrentCallAndReleasesTheRestWhenStopped() throws Exception {
		Gate gate = new Gate();
		Stream.of("a", "b", "c").forEach(this.stream::add);
		Calls first = start(new Calls((order, headers) -> gate.pass()), "idempotent.stream.min-idle-time=1h");
		gate.awaitEntry();
		RedisStreamListenerContainer container = this.instances.get(0).getBean(RedisStreamListenerContainer.class);
		CompletableFuture<Void> stopped = new CompletableFuture<>();
		container.stop(() -> stopped.complete(null));
		assertThat(stopped).isNotDone();
		gate.open();
		stopped.get(60, TimeUnit.SECONDS);
		assertThat(container.isRunning()).isFalse();
		assertThat(first.ids()).containsExactly("a");
		// Does not wait for the minimum idle time of an hour.
		Calls second = start(new Calls(), "idempotent.stream.min-idle-time=1h", "idempotent.stream.max-deliveries=1");
		await().until(() -> second.ids().size() == 2 && this.stream.pending() == 0);
		// An entry that was read before the stop is pending, and comes after a new one.
		assertThat(second.ids()).containsExactlyInAnyOrder("b", "c");
	}

	@Test
	void removesConsumersWithoutPendingEntries() {
		Calls calls = start(new Calls());
		this.stream.add("done");
		await().until(() -> calls.count("done") == 1 && this.stream.pending() == 0);
		assertThat(this.stream.consumers()).isOne();
		this.instances.get(0).close();
		assertThat(this.stream.consumers()).isZero();
	}

	@Test
	void startsAgainAfterAStop() {
		Calls calls = start(new Calls());
		RedisStreamListenerContainer container = this.instances.get(0).getBean(RedisStreamListenerContainer.class);
		container.stop();
		this.stream.add("later");
		container.start();
		await().until(() -> calls.count("later") == 1 && this.stream.pending() == 0);
	}

	@Test
	void deliversBytesTextGenericJsonHeadersOrNothing() {
		this.stream.add(Map.of("farbe", "grün", "payload", "[{\"id\":\"ü\",\"amount\":7}]"));
		try (ConfigurableApplicationContext instance = StreamApplication.start(Kinds.class, redis, new Calls(),
				this.stream.property())) {
			Queue<String> taken = instance.getBean(Kinds.class).taken;
			await().until(() -> taken.size() == 5);
			await().until(() -> List.copyOf(taken)
				.containsAll(List.of("bytes [{\"id\":\"ü\",\"amount\":7}]", "text [{\"id\":\"ü\",\"amount\":7}]",
						"json ü", "headers {farbe=grün}", "nothing")));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void renewsTheEntriesOfOtherStreamsWhenOneLosesItsGroup(int lost) {
		TestStream first = new TestStream(redis.connect());
		TestStream second = new TestStream(redis.connect());
		List<TestStream> streams = List.of(first, second);
		streams.forEach((stream) -> stream.add("slow"));
		CountDownLatch release = new CountDownLatch(1);
		Calls calls = new Calls((order, headers) -> release.await());
		try (ConfigurableApplicationContext instance = StreamApplication.start(TwoListeners.class, redis, calls,
				"test.first=" + first.name(), "test.second=" + second.name(), "idempotent.stream.min-idle-time=1s")) {
			await().until(() -> calls.count("slow") == 2);
			streams.get(lost).destroyGroup();
			TestStream other = streams.get(1 - lost);
			// Only a renewal resets the idle time.
			Duration[] last = { other.idle() };
			int[] renewals = { 0 };
			await().pollInterval(Duration.ofMillis(20)).until(() -> {
				Duration idle = other.idle();
				renewals[0] += (idle.compareTo(last[0]) < 0) ? 1 : 0;
				last[0] = idle;
				return renewals[0] == 3;
			});
			assertThat(calls.count("slow")).isEqualTo(2);
			assertThat(instance.isRunning()).isTrue();
			release.countDown();
		}
	}

	@Test
	void continuesAfterAnErrorOfAWorker() {
		Calls calls = new Calls((order, headers) -> {
			if (order.id().equals("bad")) {
				throw new IllegalStateException("bad");
			}
		});
		try (ConfigurableApplicationContext instance = StreamApplication.start(WithBrokenPolicy.class, redis, calls,
				this.stream.property())) {
			this.stream.add("bad");
			await().until(() -> calls.count("bad") >= 1);
			this.stream.add("good");
			await().until(() -> calls.count("good") == 1);
			assertThat(instance.isRunning()).isTrue();
		}
	}

	/**
	 * Waits until the idle time of the oldest entry has been reset.
	 */
	private void awaitRenewal() {
		Duration[] last = { this.stream.idle() };
		await().until(() -> {
			Duration idle = this.stream.idle();
			boolean renewed = idle.compareTo(last[0]) < 0;
			last[0] = idle;
			return renewed;
		});
	}

	private static StreamApplication.Script failing(String id, int times) {
		List<String> failures = new ArrayList<>();
		return (order, headers) -> {
			if (order.id().equals(id) && failures.size() < times) {
				failures.add(id);
				throw new IllegalStateException("not yet");
			}
		};
	}

	private <S extends StreamApplication.Script> S start(S script, String... properties) {
		String[] all = Stream.concat(Stream.of(this.stream.property()), Stream.of(properties)).toArray(String[]::new);
		this.instances.add(StreamApplication.start(OrderListener.class, redis, script, all));
		return script;
	}

	static class Kinds {

		final Queue<String> taken = new ConcurrentLinkedQueue<>();

		@RedisStreamListener(stream = "${test.stream}", group = "bytes")
		void bytes(byte[] payload) {
			this.taken.add("bytes " + new String(payload, StandardCharsets.UTF_8));
		}

		@RedisStreamListener(stream = "${test.stream}", group = "text")
		void text(Map<String, String> headers, String payload) {
			this.taken.add("text " + payload);
		}

		@RedisStreamListener(stream = "${test.stream}", group = "json", concurrency = 2)
		void json(List<Order> payload) {
			this.taken.add("json " + payload.get(0).id());
		}

		@RedisStreamListener(stream = "${test.stream}", group = "headers")
		void headers(Map<String, String> headers) {
			this.taken.add("headers " + headers);
		}

		@RedisStreamListener(stream = "${test.stream}", group = "nothing")
		void nothing() {
			this.taken.add("nothing");
		}

	}

	static class TwoListeners {

		private final Script script;

		TwoListeners(Script script) {
			this.script = script;
		}

		@RedisStreamListener(stream = "${test.first}", group = TestStream.GROUP)
		void onFirst(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

		@RedisStreamListener(stream = "${test.second}", group = TestStream.GROUP)
		void onSecond(Order order, Map<String, String> headers) throws Exception {
			this.script.on(order, headers);
		}

	}

	static class WithBrokenPolicy extends OrderListener {

		WithBrokenPolicy(Script script) {
			super(script);
		}

		@Bean
		RedeliveryPolicy brokenPolicy() {
			return (failure) -> {
				throw new NoClassDefFoundError("of the test");
			};
		}

	}

}
