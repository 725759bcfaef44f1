package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

import dev.idempotent.outbox.HandOffs.HandOff;
import dev.idempotent.outbox.InMemoryOrderedStore;
import dev.idempotent.outbox.InMemoryOutboxStore;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandOffRegistry} and {@link HandOffQueue}.
 */
class HandOffRegistryTests {

	private static final int CAPACITY = 3;

	private final PublisherRelay relay = relay(Duration.ofMinutes(1));

	private final HandOffRegistry handOffs = handOffs(this.relay, Duration.ofMinutes(1));

	@Test
	void acceptsNoMoreEventsThanItsCapacity() throws InterruptedException {
		HandOff two = Objects.requireNonNull(this.handOffs.reserve(events(2)));
		assertThat(this.handOffs.reserve(events(2))).isNull();
		HandOff one = Objects.requireNonNull(this.handOffs.reserve(events(1)));
		one.cancel();
		two.committed(events(2));
		assertThat(this.handOffs.reserve(events(2))).isNull();
		assertThat(this.relay.queue().take(1_000)).hasSize(2);
		assertThat(this.handOffs.reserve(events(CAPACITY))).isNotNull();
	}

	@Test
	void acceptsNothingForAnUnavailablePublisher() {
		this.relay.circuit().record(events(1), List.of(new Outcome.Unavailable("away")));
		assertThat(this.handOffs.reserve(events(1))).isNull();
		this.relay.circuit().record(events(1), List.of(new Outcome.Delivered()));
		assertThat(this.handOffs.reserve(events(1))).isNotNull();
	}

	@Test
	void isEmptyOnceItIsClosedAndNothingIsInProgress() throws InterruptedException {
		HandOff one = Objects.requireNonNull(this.handOffs.reserve(events(1)));
		this.handOffs.close();
		assertThat(this.handOffs.reserve(events(1))).isNull();
		assertThat(this.relay.queue().isEmpty()).isFalse();
		one.committed(events(1));
		assertThat(this.relay.queue().isEmpty()).isFalse();
		assertThat(this.relay.queue().take(1_000)).hasSize(1);
		assertThat(this.relay.queue().isEmpty()).isTrue();
	}

	@Test
	void givesEachHandOffItsOwnClaim() {
		HandOff one = Objects.requireNonNull(this.handOffs.reserve(events(1)));
		HandOff other = Objects.requireNonNull(this.handOffs.reserve(events(1)));
		assertThat(one.lease().claimId()).isNotEqualTo(other.lease().claimId());
	}

	@Test
	void recognizesEventsThatWaitedTooLongForTheirLease() throws InterruptedException {
		PublisherRelay impatient = relay(Duration.ofNanos(2));
		Objects.requireNonNull(handOffs(impatient, Duration.ofNanos(2)).reserve(events(1))).committed(events(1));
		assertThat(impatient.queue().take(1_000)).allMatch(HandOffQueue.QueuedEvent::isLate);
		Objects.requireNonNull(this.handOffs.reserve(events(1))).committed(events(1));
		assertThat(this.relay.queue().take(1_000)).noneMatch(HandOffQueue.QueuedEvent::isLate);
	}

	@Test
	void acceptsNoMorePayloadThanItsCapacity() throws InterruptedException {
		HandOff most = Objects.requireNonNull(this.handOffs.reserve(List.of(event(8 * 1024))));
		assertThat(this.handOffs.reserve(List.of(event(4 * 1024)))).isNull();
		most.committed(List.of(event(8 * 1024)));
		assertThat(this.handOffs.reserve(List.of(event(4 * 1024)))).isNull();
		assertThat(this.relay.queue().take(1_000)).hasSize(1);
		assertThat(this.handOffs.reserve(List.of(event(4 * 1024)))).isNotNull();
	}

	@Test
	void limitsThePayloadOfABatch() throws InterruptedException {
		List<SerializedEvent> three = List.of(event(2 * 1024), event(2 * 1024), event(2 * 1024));
		Objects.requireNonNull(this.handOffs.reserve(three)).committed(three);
		assertThat(this.relay.queue().take(1_000)).hasSize(2);
		assertThat(this.relay.queue().take(1_000)).hasSize(1);
		assertThat(this.relay.queue().isEmpty()).isTrue();
	}

	private static HandOffRegistry handOffs(PublisherRelay relay, Duration lease) {
		HandOffRegistry handOffs = new HandOffRegistry("test", lease, Map.of("test", relay), () -> {
		});
		handOffs.open();
		return handOffs;
	}

	private static PublisherRelay relay(Duration lease) {
		OutboxStore store = new InMemoryOutboxStore();
		OrderedSettlement ordered = new OrderedSettlement(new InMemoryOrderedStore(), (topic) -> false);
		return new PublisherRelay(new RecordingPublisher(), store, ordered, "test", new TestSettings(lease),
				(event, reason) -> Optional.empty(), new OutboxObserver() {
				}, new DelayedEvents(store, lease), PausedTopicsTests.none(), new StoreFailureLog(), () -> {
				}, () -> true);
	}

	private static List<SerializedEvent> events(int number) {
		return Collections.nCopies(number, event(0));
	}

	private static SerializedEvent event(int bytes) {
		return new SerializedEvent(UUID.randomUUID(), 1, RecordingPublisher.TOPIC, null, "type", new byte[bytes],
				Map.of(), 1);
	}

	record TestSettings(int batchSize, DataSize batchMemory, int queueCapacity, DataSize queueMemory, int workers,
			Duration lease, Duration pollInterval, Duration idlePollInterval, Duration fullScanInterval, int attempts,
			Duration backoff, Duration maxBackoff, Duration drainTimeout) implements RelaySettings {

		private static final Duration SECOND = Duration.ofSeconds(1);

		TestSettings(Duration lease) {
			this(10, DataSize.ofKilobytes(4), CAPACITY, DataSize.ofKilobytes(10), 1, lease, SECOND, SECOND, SECOND, 1,
					SECOND, SECOND, SECOND);
		}

	}

}
