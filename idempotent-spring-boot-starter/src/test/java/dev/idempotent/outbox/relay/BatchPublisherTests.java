package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BatchPublisher}.
 */
class BatchPublisherTests {

	private static final String TOPIC = "test:orders";

	private static final AtomicLong lanes = new AtomicLong();

	private final RecordingPublisher broker = new RecordingPublisher();

	private final CircuitBreakers circuit = new CircuitBreakers("test", PausedTopicsTests.none(), new LaneQueue(10),
			() -> {
			});

	private final BatchPublisher publisher = new BatchPublisher(this.broker, this.circuit);

	private final List<Integer> batches = new ArrayList<>();

	private final ClaimedEvent huge = event("huge", TOPIC);

	private final ClaimedEvent small = event("small", TOPIC);

	@Test
	void suspectsTheFirstEventWithoutAnAnswer() {
		fail("huge");
		publish(this.small, this.huge, event("other", TOPIC));
		assertThat(this.publisher.isSuspect(this.huge.place())).isTrue();
		assertThat(this.publisher.isSuspect(this.small.place())).isFalse();
		this.broker.answer((event) -> new Outcome.Delivered());
		publish(this.huge);
		assertThat(this.publisher.isSuspect(this.huge.place())).isFalse();
	}

	@Test
	void countsTheAttemptOfAnEventThatAloneGetsNoAnswer() {
		fail("huge");
		assertThat(publish(this.huge, this.small)).hasOnlyElementsOfType(Outcome.Unavailable.class);
		publish(this.small);
		assertThat(publish(this.huge)).hasOnlyElementsOfType(Outcome.Retry.class);
		assertThat(this.circuit.isClosed(TOPIC)).isTrue();
	}

	@Test
	void countsNoAttemptIfOnlyTheBrokerCanPreventAResponse() {
		fail("huge");
		BatchPublisher partitioned = new BatchPublisher(new Partitioned(this.broker), this.circuit);
		partitioned.publish(List.of(this.huge), () -> true);
		for (int i = 0; i < 5; i++) {
			partitioned.publish(List.of(this.small), () -> true);
			assertThat(partitioned.publish(List.of(this.huge), () -> true))
				.hasOnlyElementsOfType(Outcome.Unavailable.class);
		}
		assertThat(this.circuit.isClosed(TOPIC)).isTrue();
	}

	@Test
	void countsEachAttemptOnlyWithNewEvidence() {
		fail("huge");
		publish(this.huge);
		publish(this.small);
		assertThat(publish(this.huge)).hasOnlyElementsOfType(Outcome.Retry.class);
		assertThat(publish(this.huge)).hasOnlyElementsOfType(Outcome.Unavailable.class);
		assertThat(this.circuit.isClosed(TOPIC)).isFalse();
	}

	@Test
	void countsNoAttemptDuringAnOutage() {
		fail("huge", "small");
		IntStream.range(0, 10)
			.forEach(
					(i) -> assertThat(publish(this.huge, this.small)).hasOnlyElementsOfType(Outcome.Unavailable.class));
		publish(event("elsewhere", "test:elsewhere"));
		assertThat(publish(this.huge)).hasOnlyElementsOfType(Outcome.Unavailable.class);
	}

	@Test
	void countsNoAttemptOnceAnotherEventOfTheTopicGetsNoAnswerEither() {
		fail("huge");
		publish(this.huge);
		publish(this.small);
		fail("huge", "small");
		publish(this.small);
		assertThat(publish(this.huge)).hasOnlyElementsOfType(Outcome.Unavailable.class);
	}

	@Test
	void doesNotTakeTheFailureOfASuspectForAnUnavailablePublisher() {
		fail("huge");
		publish(this.huge);
		assertThat(this.circuit.isClosed()).isFalse();
		publish(event("elsewhere", "test:elsewhere"));
		publish(this.huge);
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.isClosed(TOPIC)).isFalse();
	}

	@Test
	void sendsNothingWhenItsTimeIsOver() {
		assertThat(this.publisher.publish(List.of(this.huge, this.small), () -> false))
			.containsOnly(BatchSettlement.NOT_SENT);
		assertThat(this.broker.published()).isEmpty();
		assertThat(this.circuit.isClosed(TOPIC)).isTrue();
		assertThat(this.publisher.isSuspect(this.huge.place())).isFalse();
	}

	@Test
	void ignoresWhatAPublisherThatKeepsTheOrderSaysOfTheRestOfARun() {
		fail("2");
		BatchPublisher ordered = new BatchPublisher(new Ordered(this.broker), this.circuit);
		assertThat(ordered.publish(List.of(keyed("1"), keyed("2"), keyed("3"), event("other", TOPIC)), () -> true))
			.satisfiesExactly((first) -> assertThat(first).isInstanceOf(Outcome.Delivered.class),
					(failed) -> assertThat(failed).isNotEqualTo(BatchSettlement.NOT_SENT),
					(rest) -> assertThat(rest).isSameAs(BatchSettlement.NOT_SENT),
					(other) -> assertThat(other).isNotSameAs(BatchSettlement.NOT_SENT));
	}

	@Test
	void sendsNothingOfARunBehindTheEventAtWhichThePublisherThrows() {
		this.broker.answer((event) -> {
			if (event.type().equals("2")) {
				throw new IllegalStateException();
			}
			return new Outcome.Delivered();
		});
		BatchPublisher ordered = new BatchPublisher(new Ordered(this.broker), this.circuit);
		List<ClaimedEvent> run = List.of(keyed("1"), keyed("2"), keyed("3"), keyed("4"));
		List<Outcome> outcomes = ordered.publish(run, () -> true);
		assertThat(outcomes).hasExactlyElementsOfTypes(Outcome.Delivered.class, Outcome.Retry.class,
				Outcome.Unavailable.class, Outcome.Unavailable.class);
		assertThat(this.broker.types()).containsOnly("1");
	}

	private List<Outcome> publish(ClaimedEvent... events) {
		return this.publisher.publish(List.of(events), () -> true);
	}

	/**
	 * As in a pipeline, the events behind one that times out get no reply either.
	 */
	private void fail(String... types) {
		boolean[] silent = new boolean[1];
		this.broker.watchBatches((size) -> {
			silent[0] = false;
			this.batches.add(size);
		});
		this.broker.answer((event) -> {
			silent[0] |= Arrays.asList(types).contains(event.type());
			return silent[0] ? new Outcome.Unavailable("No reply in time") : new Outcome.Delivered();
		});
	}

	private static ClaimedEvent event(String type, String topic) {
		return event(type, topic, null);
	}

	private static ClaimedEvent keyed(String type) {
		return event(type, TOPIC, "key");
	}

	private static ClaimedEvent event(String type, String topic, @Nullable String key) {
		SerializedEvent event = new SerializedEvent(UUID.randomUUID(), 1, topic, key, type, new byte[0], Map.of(), 1);
		return new ClaimedEvent(lanes.incrementAndGet(), event, null, Duration.ZERO, true);
	}

	private record Partitioned(OutboxPublisher broker) implements OutboxPublisher {

		@Override
		public String prefix() {
			return this.broker.prefix();
		}

		@Override
		public boolean canEventPreventResponse() {
			return false;
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			return this.broker.publish(events);
		}

	}

	private record Ordered(OutboxPublisher broker) implements OutboxPublisher {

		@Override
		public String prefix() {
			return this.broker.prefix();
		}

		@Override
		public boolean keepsOrder() {
			return true;
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			return this.broker.publish(events);
		}

	}

}
