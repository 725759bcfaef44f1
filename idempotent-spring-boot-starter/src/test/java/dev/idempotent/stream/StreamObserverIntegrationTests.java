package dev.idempotent.stream;

import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.stream.StreamApplication.Script;
import dev.idempotent.stream.StreamObserver.Outcome;
import dev.idempotent.stream.StreamObserver.ProcessedEntry;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.data.redis.connection.stream.RecordId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link StreamObserver} on a real Redis.
 */
@ExtendWith(OutputCaptureExtension.class)
class StreamObserverIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final TestStream stream = new TestStream(redis.connect());

	private final Calls calls = new Calls((order, headers) -> {
		if (order.id().equals("bad")) {
			throw new IllegalStateException("of the test");
		}
	});

	@Test
	void learnsTheGroupsBeforeTheFirstEntryAndTheOutcomeOfEachDelivery() {
		this.stream.add("good");
		this.stream.add("bad");
		try (ConfigurableApplicationContext instance = start(Observed.class, "idempotent.stream.max-deliveries=2")) {
			Recorder recorder = instance.getBean(Recorder.class);
			await().untilAsserted(() -> assertThat(recorder.entries).hasSize(3));
			ConsumerGroup group = new ConsumerGroup(this.stream.name(), TestStream.GROUP);
			assertThat(recorder.groups).containsExactly(group);
			assertThat(recorder.entries).extracting(ProcessedEntry::group).containsOnly(group);
			assertThat(recorder.entries).extracting(ProcessedEntry::outcome)
				.containsExactly(Outcome.ACKNOWLEDGED, Outcome.REDELIVERED, Outcome.DEAD);
			assertThat(recorder.entries).extracting(ProcessedEntry::deliveries).containsExactly(1L, 1L, 2L);
			assertThat(recorder.entries).extracting(ProcessedEntry::took).doesNotContain(Duration.ZERO);
		}
	}

	@Test
	void learnsOfAnEntryThatWasLostAndOfOneThatNoDeliveryHasSurvived() {
		RecordId trimmed = this.stream.add("trimmed");
		RecordId crashing = this.stream.add("crashing");
		this.stream.readAndDie();
		this.stream.delete(trimmed);
		this.stream.countDeliveries(crashing, 20);
		try (ConfigurableApplicationContext instance = start(Observed.class)) {
			Recorder recorder = instance.getBean(Recorder.class);
			await().untilAsserted(() -> assertThat(recorder.entries).hasSize(2));
			assertThat(recorder.entries).extracting(ProcessedEntry::outcome)
				.containsExactlyInAnyOrder(Outcome.LOST, Outcome.DEAD);
			assertThat(this.calls.ids()).isEmpty();
		}
	}

	@Test
	void learnsOfOneDeadEntryIfAnotherConsumerHasTakenItOver() {
		RecordId id = this.stream.add("stolen");
		Calls stolen = new Calls((order, headers) -> {
			this.stream.countDeliveries(id, 1);
			throw new IllegalStateException("of the test");
		});
		try (ConfigurableApplicationContext instance = StreamApplication.start(Observed.class, redis, stolen,
				this.stream.property(), "idempotent.stream.max-deliveries=1")) {
			Recorder recorder = instance.getBean(Recorder.class);
			await().until(() -> recorder.entries.size() == 2);
			assertThat(recorder.entries).extracting(ProcessedEntry::outcome)
				.containsExactly(Outcome.REDELIVERED, Outcome.DEAD);
			assertThat(this.stream.dead()).hasSize(1);
		}
	}

	@Test
	void affectsNoEntryAndNoOtherObserverIfItThrows(CapturedOutput output) {
		try (ConfigurableApplicationContext instance = start(Broken.class)) {
			Recorder recorder = instance.getBean(Recorder.class);
			this.stream.add("first");
			this.stream.add("second");
			await().until(() -> recorder.entries.size() == 2 && this.stream.pending() == 0);
			assertThat(this.calls.ids()).containsExactly("first", "second");
			assertThat(recorder.groups).hasSize(1);
			assertThat(output)
				.containsOnlyOnce("An observer of the @RedisStreamListener methods has failed with "
						+ "java.lang.NoClassDefFoundError")
				.doesNotContain("of the test");
		}
	}

	@Test
	void isNotCalledForAnEntryThatWasNotStarted() throws InterruptedException {
		CountDownLatch ready = new CountDownLatch(1);
		Calls blocked = new Calls((order, headers) -> ready.await());
		ConfigurableApplicationContext instance = StreamApplication.start(Observed.class, redis, blocked,
				this.stream.property());
		Recorder recorder = instance.getBean(Recorder.class);
		this.stream.add("running");
		await().until(() -> blocked.count("running") == 1);
		this.stream.add("waiting");
		CountDownLatch stopped = new CountDownLatch(1);
		instance.getBean(RedisStreamListenerContainer.class).stop(stopped::countDown);
		await().until(StreamObserverIntegrationTests::waitsForTheWorkers);
		ready.countDown();
		stopped.await();
		instance.close();
		assertThat(recorder.entries).extracting(ProcessedEntry::outcome).containsExactly(Outcome.ACKNOWLEDGED);
	}

	/**
	 * The thread that stops the container has told the workers so.
	 */
	private static boolean waitsForTheWorkers() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.anyMatch((thread) -> thread.getName().equals("stream-stop")
					&& EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(thread.getState()));
	}

	private ConfigurableApplicationContext start(Class<?> listeners, String... properties) {
		String[] all = new String[properties.length + 1];
		all[0] = this.stream.property();
		System.arraycopy(properties, 0, all, 1, properties.length);
		return StreamApplication.start(listeners, redis, this.calls, all);
	}

	static class Recorder implements StreamObserver {

		final List<ConsumerGroup> groups = new CopyOnWriteArrayList<>();

		final List<ProcessedEntry> entries = new CopyOnWriteArrayList<>();

		@Override
		public void listening(Collection<ConsumerGroup> listening) {
			this.groups.addAll(listening);
		}

		@Override
		public void processed(ProcessedEntry entry) {
			this.entries.add(entry);
		}

	}

	static class Observed extends OrderListener {

		Observed(Script script) {
			super(script);
		}

		@Bean
		Recorder recorder() {
			return new Recorder();
		}

	}

	static class Broken extends Observed {

		Broken(Script script) {
			super(script);
		}

		@Bean
		@Order(0)
		StreamObserver first() {
			return new StreamObserver() {

				@Override
				public void listening(Collection<ConsumerGroup> groups) {
					throw new NoClassDefFoundError("of the test");
				}

				@Override
				public void processed(ProcessedEntry entry) {
					Thread.currentThread().interrupt();
					throw new IllegalStateException("of the test");
				}

			};
		}

	}

}
