package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TopicControl;
import dev.idempotent.outbox.relay.LaneQueue.LaneSignal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link CircuitBreakers}.
 */
class CircuitBreakersTests {

	private static final Outcome DELIVERED = new Outcome.Delivered();

	private static final Outcome AWAY = new Outcome.Unavailable("away");

	private static final Outcome GONE = new Outcome.Unavailable("gone", Scope.DESTINATION);

	private final AtomicInteger recoveries = new AtomicInteger();

	private final PausableTopics control = new PausableTopics();

	private final PausedTopics paused = new PausedTopics(this.control, () -> {
	}, () -> {
	});

	private final LaneQueue queue = new LaneQueue(1000);

	private final CircuitBreakers circuit = new CircuitBreakers("test", this.paused, this.queue,
			this.recoveries::incrementAndGet);

	@Test
	void treatsAPartlyAnsweredBatchAsAvailability() {
		record(DELIVERED, AWAY);
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.isClosed("test:0")).isTrue();
		assertThat(this.circuit.isClosed("test:1")).isFalse();
	}

	@Test
	void treatsADestinationThatAcceptsSomeEventsAsAvailable() {
		this.circuit.record(List.of(event(0), event(0)), List.of(DELIVERED, AWAY));
		assertThat(this.circuit.failing()).isEmpty();
	}

	@Test
	void opensForThePublisherIfNothingIsAnswered() {
		record(AWAY, GONE);
		assertThat(this.circuit.isClosed()).isFalse();
		assertThat(this.circuit.isClosed("test:7")).isFalse();
	}

	@Test
	void staysClosedForOtherDestinations() {
		record(GONE, GONE);
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.failing()).containsExactlyInAnyOrder("test:0", "test:1");
		assertThat(this.circuit.isClosed("test:7")).isTrue();
	}

	@Test
	void treatsManyUnavailableDestinationsAsAnUnavailablePublisher() {
		IntStream.range(0, CircuitBreakers.MAX_DESTINATIONS)
			.forEach((i) -> this.circuit.record(List.of(event(i)), List.of(GONE)));
		assertThat(this.circuit.isClosed()).isTrue();
		this.circuit.record(List.of(event(1000)), List.of(GONE));
		assertThat(this.circuit.isClosed()).isFalse();
		assertThat(this.circuit.failing()).hasSize(CircuitBreakers.MAX_DESTINATIONS);
	}

	@Test
	void keepsLanesOfUnavailableTopicsOnly() {
		record(DELIVERED, GONE);
		assertThat(this.circuit.keep(wake(0, 1))).isFalse();
		assertThat(this.circuit.keep(wake(1, 2))).isTrue();
	}

	@Test
	void probesDestinationsInTurn() throws InterruptedException {
		record(GONE, GONE);
		for (int lane = 0; lane < 4; lane++) {
			this.circuit.keep(wake(lane % 2, lane));
		}
		Set<String> probed = new HashSet<>();
		// After a stall, both are due, and the first one may be probed twice.
		await().until(() -> {
			String topic = awaitProbe().topic();
			probed.add(topic);
			this.circuit.record(List.of(event(Integer.parseInt(topic.substring(5)))), List.of(GONE));
			return probed.size() == 2;
		});
	}

	@Test
	void probesAnUnavailablePublisherWithAllItsTopicsInTurn() throws InterruptedException {
		record(AWAY);
		for (int lane = 0; lane < 9; lane++) {
			this.circuit.keep(wake(lane % 3, lane));
		}
		Set<String> probed = new HashSet<>();
		for (int i = 0; i < 3; i++) {
			String topic = awaitProbe().topic();
			probed.add(topic);
			this.circuit.record(List.of(event(Integer.parseInt(topic.substring(5)))), List.of(GONE));
		}
		assertThat(probed).containsExactlyInAnyOrder("test:0", "test:1", "test:2");
	}

	@Test
	void probesDestinationsAtOnceWhenThePublisherRecovers() throws InterruptedException {
		record(AWAY, AWAY);
		this.circuit.keep(wake(0, 1));
		this.circuit.keep(wake(2, 2));
		this.circuit.record(List.of(event(2)), List.of(DELIVERED));
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.recoveries).hasValue(1);
		assertThat(this.queue.take(10)).extracting(LaneSignal::topic).containsExactly("test:2");
		assertThat(Objects.requireNonNull(this.circuit.awaitProbe(Duration.ZERO)).topic()).isEqualTo("test:0");
	}

	@Test
	void wakesTheLanesOfARecoveredTopicFromTheirFirstRow() {
		record(GONE, GONE);
		for (int lane = 0; lane < 150; lane++) {
			assertThat(this.circuit.keep(wake(0, lane))).isTrue();
		}
		this.circuit.keep(wake(1, 1000));
		record(DELIVERED);
		assertThat(this.queue.take(1000)).hasSize(100).allMatch((wake) -> wake.row() == 0);
		assertThat(this.recoveries).hasValue(1);
	}

	@Test
	void waitsForAnEventToProbeWithAndProbesAtOnce() throws InterruptedException {
		record(GONE);
		awaitIdle();
		assertThat(this.circuit.failing()).containsExactly("test:0");
		this.circuit.keep(wake(0, 1));
		assertThat(this.circuit.awaitProbe(Duration.ZERO)).isNotNull();
	}

	@Test
	@Tag("long")
	void closesIfThereIsNoEventToProbeWithForAWhile() throws InterruptedException {
		record(AWAY);
		awaitIdle();
		assertThat(this.circuit.isClosed("test:0")).isFalse();
		await().atMost(Duration.ofMinutes(1)).until(() -> {
			assertThat(this.circuit.awaitProbe(Duration.ofSeconds(1))).isNull();
			return this.circuit.isClosed("test:0");
		});
		assertThat(this.recoveries).hasPositiveValue();
	}

	@Test
	void neverProbesAPausedTopic() throws InterruptedException {
		record(GONE);
		this.circuit.keep(wake(0, 1));
		this.control.topics = Set.of("test:0");
		this.paused.read();
		await().until(() -> this.circuit.open().stream().allMatch((open) -> open.nextProbe().isZero()));
		assertThat(this.circuit.awaitProbe(Duration.ofMillis(1))).isNull();
		this.control.topics = Set.of();
		this.paused.read();
		assertThat(this.circuit.awaitProbe(Duration.ofMillis(1))).isNotNull();
		assertThat(this.circuit.isClosed("test:0")).isFalse();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsAnOutageAndItsEndInOneLineEach(CapturedOutput output) {
		record(AWAY, GONE);
		record(AWAY);
		record(DELIVERED, DELIVERED);
		record(DELIVERED);
		// Without what threads of earlier tests may log.
		assertThat(output.getOut().lines().filter((line) -> line.contains("publisher of test"))).hasSize(2);
		assertThat(output).contains("The publisher of test is unavailable; events are kept until it recovers: away")
			.containsPattern("The publisher of test is available again, after \\d+ ms");
	}

	private LaneSignal awaitProbe() {
		return await().until(() -> this.circuit.awaitProbe(Duration.ofMillis(100)), Objects::nonNull);
	}

	/**
	 * Waits until the circuit waits for an event to probe with.
	 */
	private void awaitIdle() {
		await().until(() -> {
			assertThat(this.circuit.awaitProbe(Duration.ofMillis(10))).isNull();
			return this.circuit.open().get(0).nextProbe().compareTo(Duration.ofSeconds(5)) > 0;
		});
	}

	private static LaneSignal wake(int destination, long lane) {
		return new LaneSignal(lane, 1, "test:" + destination, 0);
	}

	private void record(Outcome... outcomes) {
		this.circuit.record(IntStream.range(0, outcomes.length).mapToObj(CircuitBreakersTests::event).toList(),
				List.of(outcomes));
	}

	private static SerializedEvent event(int destination) {
		return new SerializedEvent(UUID.randomUUID(), 1, "test:" + destination, null, "type", new byte[0], Map.of(), 1);
	}

	private static final class PausableTopics implements TopicControl {

		private Set<String> topics = Set.of();

		@Override
		public boolean pause(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public boolean resume(String topic) {
			throw new UnsupportedOperationException();
		}

		@Override
		public List<PausedTopic> paused() {
			return this.topics.stream().map((topic) -> new PausedTopic(topic, Duration.ZERO)).toList();
		}

	}

}
