package dev.idempotent.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of every publisher with its broker. A test of a publisher extends it.
 * Needs JUnit, AssertJ and Awaitility.
 */
@Timeout(180)
public abstract class OutboxPublisherContract {

	private static final Outcome DELIVERED = new Outcome.Delivered();

	/**
	 * The publisher under test.
	 * @return the same during one test; its broker can be reached
	 */
	protected abstract OutboxPublisher publisher();

	/**
	 * A publisher of the same class without a broker, such as on a port that is closed.
	 * @return a publisher that gives up within seconds
	 */
	protected abstract OutboxPublisher unreachablePublisher();

	/**
	 * Creates a destination.
	 * @param name a unique name of letters, digits and hyphens
	 * @return the destination, the part of a topic after the colon
	 */
	protected String createDestination(String name) {
		return name;
	}

	/**
	 * Reads what the broker has received. Called until the expected messages are there.
	 * @param destination a destination to which the publisher has sent its events
	 * @return all messages of the destination, in their order
	 * @throws Exception if they cannot be read
	 */
	protected abstract List<Message> received(String destination) throws Exception;

	@Test
	void servesAPrefixOfLettersDigitsAndHyphens() {
		assertThat(publisher().prefix()).matches("[A-Za-z0-9-]+");
	}

	@Test
	void deliversABatchInItsOrder() {
		String destination = newDestination();
		List<SerializedEvent> events = events(destination, 100);
		assertThat(publisher().publish(events)).hasSize(100).containsOnly(DELIVERED);
		assertReceived(events);
	}

	@Test
	void deliversTheEventsOfSeveralDestinations() {
		List<SerializedEvent> first = events(newDestination(), 10);
		List<SerializedEvent> second = events(newDestination(), 10);
		List<SerializedEvent> mixed = IntStream.range(0, 10)
			.boxed()
			.flatMap((i) -> Stream.of(first.get(i), second.get(i)))
			.toList();
		assertThat(publisher().publish(mixed)).hasSize(20).containsOnly(DELIVERED);
		assertReceived(first);
		assertReceived(second);
	}

	@Test
	void deliversAnEventWithoutAKey() {
		String destination = newDestination();
		SerializedEvent event = event(destination, null, "\"no key\"");
		assertThat(publisher().publish(List.of(event))).containsExactly(DELIVERED);
		assertReceived(List.of(event));
	}

	@Test
	void deliversAnEventAgainWithItsId() {
		String destination = newDestination();
		List<SerializedEvent> event = events(destination, 1);
		assertThat(publisher().publish(event)).containsExactly(DELIVERED);
		assertThat(publisher().publish(event)).containsExactly(DELIVERED);
		assertReceived(List.of(event.get(0), event.get(0)));
	}

	@Test
	void deliversTheBatchesOfConcurrentThreads() throws InterruptedException {
		List<List<SerializedEvent>> batches = Stream.generate(() -> events(newDestination(), 20)).limit(4).toList();
		assertThat(Race.of(batches.size(), (runner) -> publisher().publish(batches.get(runner))))
			.allSatisfy((outcomes) -> assertThat(outcomes).hasSize(20).containsOnly(DELIVERED));
		batches.forEach(this::assertReceived);
	}

	@Test
	void reportsABrokerThatCannotBeReachedAsUnavailable() {
		List<Outcome> outcomes = unreachablePublisher().publish(events("unreachable", 3));
		assertThat(outcomes).hasSize(3).hasOnlyElementsOfType(Outcome.Unavailable.class);
	}

	private void assertReceived(List<SerializedEvent> events) {
		List<Message> expected = events.stream()
			.map((event) -> new Message(event.id().toString(), new String(event.payload(), StandardCharsets.UTF_8)))
			.toList();
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(() -> assertThat(received(events.get(0).destination())).isEqualTo(expected));
	}

	private String newDestination() {
		return createDestination("contract-" + UUID.randomUUID());
	}

	private List<SerializedEvent> events(String destination, int number) {
		return IntStream.range(0, number)
			.mapToObj((i) -> event(destination, "schlüssel", "{\"grüße\":" + i + "}"))
			.toList();
	}

	private SerializedEvent event(String destination, @Nullable String key, String payload) {
		Map<String, String> headers = Map.of("ce_source", "/contract", "ce_time", Instant.EPOCH.toString(),
				SerializedEvent.CONTENT_TYPE, "application/json");
		return new SerializedEvent(UUID.randomUUID(), 1, publisher().prefix() + ":" + destination, key,
				"contract.tested", payload.getBytes(StandardCharsets.UTF_8), headers, 1);
	}

	/**
	 * A message of the broker.
	 *
	 * @param id the {@code id} of the CloudEvent
	 * @param payload its data, as text
	 */
	public record Message(String id, String payload) {
	}

}
