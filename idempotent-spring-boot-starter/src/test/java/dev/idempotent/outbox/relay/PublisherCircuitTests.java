package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link PublisherCircuit}.
 */
class PublisherCircuitTests {

	private static final Outcome DELIVERED = new Outcome.Delivered();

	private static final Outcome AWAY = new Outcome.Unavailable("away");

	private static final Outcome GONE = new Outcome.Unavailable("gone", Scope.DESTINATION);

	private final AtomicInteger recoveries = new AtomicInteger();

	private final PublisherCircuit circuit = new PublisherCircuit("test", this.recoveries::incrementAndGet);

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
		assertThat(this.circuit.unavailable()).isEmpty();
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
		assertThat(this.circuit.unavailable()).containsExactlyInAnyOrder("test:0", "test:1");
		assertThat(this.circuit.isClosed("test:7")).isTrue();
	}

	@Test
	void treatsManyUnavailableDestinationsAsAnUnavailablePublisher() {
		IntStream.range(0, Destinations.MAX).forEach((i) -> this.circuit.record(List.of(event(i)), List.of(GONE)));
		assertThat(this.circuit.isClosed()).isTrue();
		this.circuit.record(List.of(event(1000)), List.of(GONE));
		assertThat(this.circuit.isClosed()).isFalse();
		assertThat(this.circuit.unavailable()).hasSize(Destinations.MAX);
	}

	@Test
	void probesDestinationsInTurn() {
		record(GONE, GONE);
		await().until(() -> this.circuit.nextProbe() != null);
		PublisherCircuit.Probe first = Objects.requireNonNull(this.circuit.nextProbe());
		String topic = Objects.requireNonNull(first.topic());
		this.circuit.record(List.of(event(Integer.parseInt(topic.substring(5)))), List.of(GONE));
		await().until(() -> this.circuit.nextProbe() != null);
		assertThat(Objects.requireNonNull(this.circuit.nextProbe()).topic()).isNotEqualTo(topic);
	}

	@Test
	void probesDestinationsAtOnceWhenThePublisherRecovers() {
		record(AWAY, AWAY);
		this.circuit.record(List.of(event(2)), List.of(DELIVERED));
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.recoveries).hasValue(1);
		assertThat(this.circuit.nextProbe()).isNotNull();
	}

	@Test
	void waitsForAnEventToProbeWithAndProbesAtOnce() {
		record(GONE);
		await().until(() -> this.circuit.nextProbe() != null);
		this.circuit.awaitEvent(Objects.requireNonNull(this.circuit.nextProbe()));
		assertThat(this.circuit.nextProbe()).isNull();
		assertThat(this.circuit.unavailable()).containsExactly("test:0");
		this.circuit.eventAvailable("test:0");
		assertThat(this.circuit.nextProbe()).isNotNull();
	}

	@Test
	void closesIfThereIsNoEventToProbeWithForAWhile() {
		record(AWAY);
		PublisherCircuit.Probe destination = Objects.requireNonNull(this.circuit.longestUnprobed());
		PublisherCircuit.Probe whole = new PublisherCircuit.Probe(null, 0);
		for (PublisherCircuit.Probe probe : List.of(destination, whole)) {
			this.circuit.awaitEvent(probe);
			assertThat(this.circuit.isClosed("test:0")).isFalse();
			this.circuit.awaitEvent(probe);
		}
		assertThat(this.circuit.isClosed("test:0")).isTrue();
	}

	@Test
	void probesBehindSuspectRows() {
		record(GONE);
		this.circuit.probeBehind(new PublisherCircuit.Probe("test:0", 1), 7);
		record(GONE);
		assertThat(Objects.requireNonNull(this.circuit.longestUnprobed()).row()).isEqualTo(8);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void keepsEventsOfPausedTopicsSilently(CapturedOutput output) {
		this.circuit.pause(Set.of("test:0", "other:0"));
		assertThat(this.circuit.isClosed("test:0")).isFalse();
		assertThat(this.circuit.isClosed("test:1")).isTrue();
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.unavailable()).containsExactly("test:0");
		assertThat(this.circuit.failing()).isEmpty();
		assertThat(this.circuit.nextProbe()).isNull();
		assertThat(output).isEmpty();
	}

	@Test
	void looksForTheEventsOfResumedTopics() {
		this.circuit.pause(Set.of("test:0", "test:1"));
		this.circuit.pause(Set.of("test:0", "test:1", "test:2"));
		assertThat(this.recoveries).hasValue(0);
		this.circuit.pause(Set.of("test:1", "test:2"));
		assertThat(this.recoveries).hasValue(1);
		assertThat(this.circuit.isClosed("test:0")).isTrue();
	}

	@Test
	void neverProbesAPausedTopic() {
		record(GONE);
		this.circuit.pause(Set.of("test:0"));
		assertThat(this.circuit.longestUnprobed()).isNull();
		this.circuit.pause(Set.of());
		assertThat(this.circuit.longestUnprobed()).isNotNull();
		assertThat(this.circuit.isClosed("test:0")).isFalse();
	}

	@Test
	void pausesMoreTopicsThanMayBeUnavailable() {
		Set<String> many = IntStream.range(0, 10 * Destinations.MAX)
			.mapToObj((i) -> "test:" + i)
			.collect(Collectors.toSet());
		this.circuit.pause(many);
		record(DELIVERED, GONE);
		this.circuit.record(List.of(event(1000)), List.of(GONE));
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.unavailable()).containsAll(many).contains("test:1000");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsAnOutageAndItsEndInOneLineEach(CapturedOutput output) {
		record(AWAY, GONE);
		record(AWAY);
		record(DELIVERED, DELIVERED);
		record(DELIVERED);
		assertThat(output.getOut().lines()).hasSize(2);
		assertThat(output).contains("The publisher of test is unavailable; events are kept until it recovers: away")
			.containsPattern("The publisher of test is available again, after \\d+ ms");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void logsThatAnOutageCountsAsEndedIfNoEventIsLeft(CapturedOutput output) {
		record(GONE);
		PublisherCircuit.Probe probe = Objects.requireNonNull(this.circuit.longestUnprobed());
		this.circuit.awaitEvent(probe);
		this.circuit.awaitEvent(probe);
		assertThat(output).containsOnlyOnce("The destination test:0 is unavailable")
			.containsOnlyOnce("test:0 counts as available again, after");
	}

	private void record(Outcome... outcomes) {
		this.circuit.record(IntStream.range(0, outcomes.length).mapToObj(PublisherCircuitTests::event).toList(),
				List.of(outcomes));
	}

	private static SerializedEvent event(int destination) {
		return new SerializedEvent(UUID.randomUUID(), 1, "test:" + destination, null, "type", new byte[0], Map.of(), 1);
	}

}
