package dev.idempotent.outbox.relay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BatchPublisher} and {@link SuspectEvents}.
 */
class BatchPublisherTests {

	private static final String TOPIC = "test:orders";

	private final RecordingPublisher broker = new RecordingPublisher();

	private final PublisherCircuit circuit = new PublisherCircuit("test", () -> {
	});

	private final SuspectEvents suspects = new SuspectEvents();

	private final BatchPublisher publisher = new BatchPublisher(this.broker, this.circuit, this.suspects);

	private final List<Integer> batches = new ArrayList<>();

	private final SerializedEvent huge = event("huge", TOPIC);

	private final SerializedEvent small = event("small", TOPIC);

	@Test
	void publishesASuspectAloneAndBehindTheOthers() {
		fail("huge");
		this.publisher.publish(List.of(this.huge, this.small));
		this.batches.clear();
		this.broker.answer((event) -> new Outcome.Delivered());
		this.publisher.publish(List.of(this.huge, this.small, event("other", TOPIC)));
		assertThat(this.batches).containsExactly(2, 1);
		assertThat(this.broker.types()).containsExactly("small", "other", "huge");
		assertThat(this.suspects.contains(this.huge)).isFalse();
	}

	@Test
	void countsTheAttemptOfAnEventThatAloneGetsNoAnswer() {
		fail("huge");
		assertThat(this.publisher.publish(List.of(this.huge, this.small)))
			.hasOnlyElementsOfType(Outcome.Unavailable.class);
		assertThat(this.publisher.publish(List.of(this.huge, this.small)))
			.hasExactlyElementsOfTypes(Outcome.Retry.class, Outcome.Delivered.class);
		assertThat(this.circuit.isClosed(TOPIC)).isTrue();
	}

	@Test
	void countsNoAttemptIfOnlyTheBrokerCanPreventAResponse() {
		fail("huge");
		BatchPublisher partitioned = new BatchPublisher(new Partitioned(this.broker), this.circuit, this.suspects);
		for (int i = 0; i < 5; i++) {
			partitioned.publish(List.of(this.small));
			assertThat(partitioned.publish(List.of(this.huge, event("other", TOPIC)))).first()
				.isInstanceOf(Outcome.Unavailable.class);
		}
		assertThat(this.circuit.isClosed(TOPIC)).isTrue();
		assertThat(this.broker.types()).contains("small", "other");
	}

	@Test
	void countsEachAttemptOnlyWithNewEvidence() {
		fail("huge");
		this.publisher.publish(List.of(this.huge));
		this.publisher.publish(List.of(this.small));
		assertThat(this.publisher.publish(List.of(this.huge))).hasOnlyElementsOfType(Outcome.Retry.class);
		assertThat(this.publisher.publish(List.of(this.huge))).hasOnlyElementsOfType(Outcome.Unavailable.class);
		assertThat(this.circuit.isClosed(TOPIC)).isFalse();
	}

	@Test
	void countsNoAttemptDuringAnOutage() {
		fail("huge", "small");
		IntStream.range(0, 10)
			.forEach((i) -> assertThat(this.publisher.publish(List.of(this.huge, this.small)))
				.hasOnlyElementsOfType(Outcome.Unavailable.class));
		this.publisher.publish(List.of(event("elsewhere", "test:elsewhere")));
		assertThat(this.publisher.publish(List.of(this.huge))).hasOnlyElementsOfType(Outcome.Unavailable.class);
	}

	@Test
	void countsNoAttemptOnceAnotherEventOfTheTopicGetsNoAnswerEither() {
		fail("huge");
		this.publisher.publish(List.of(this.huge));
		this.publisher.publish(List.of(this.small));
		fail("huge", "small");
		this.publisher.publish(List.of(this.small));
		assertThat(this.publisher.publish(List.of(this.huge))).hasOnlyElementsOfType(Outcome.Unavailable.class);
	}

	@Test
	void doesNotTakeTheFailureOfASuspectForAnUnavailablePublisher() {
		fail("huge");
		this.publisher.publish(List.of(this.huge));
		assertThat(this.circuit.isClosed()).isFalse();
		this.publisher.publish(List.of(event("elsewhere", "test:elsewhere")));
		this.publisher.publish(List.of(this.huge));
		assertThat(this.circuit.isClosed()).isTrue();
		assertThat(this.circuit.isClosed(TOPIC)).isFalse();
	}

	@Test
	void triesOneSuspectWithoutAnAnswerPerBatch() {
		fail("huge", "enormous");
		SerializedEvent enormous = event("enormous", TOPIC);
		this.publisher.publish(List.of(this.huge));
		this.publisher.publish(List.of(enormous));
		this.batches.clear();
		assertThat(this.publisher.publish(List.of(this.huge, enormous, this.small)))
			.hasExactlyElementsOfTypes(Outcome.Retry.class, Outcome.Unavailable.class, Outcome.Delivered.class);
		assertThat(this.batches).containsExactly(1, 1);
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

	private static SerializedEvent event(String type, String topic) {
		return new SerializedEvent(UUID.randomUUID(), 1, topic, null, type, new byte[0], Map.of(), 1);
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

}
