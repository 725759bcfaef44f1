package dev.idempotent.outbox.courier;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import dev.idempotent.outbox.HandOffs.HandOff;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.StoredEvent;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link HandOffQueue}.
 */
class HandOffQueueTests {

	private static final int CAPACITY = 3;

	private final PublisherCircuits circuits = new PublisherCircuits(
			new OutboxTopics(List.of(new RecordingPublisher()), null));

	private final HandOffQueue queue = queue(Duration.ofMinutes(1));

	@BeforeEach
	void open() {
		this.queue.open();
	}

	@Test
	void takesNoMoreThanItHasRoomFor() throws InterruptedException {
		HandOff two = Objects.requireNonNull(this.queue.reserve(events(2)));
		assertThat(this.queue.reserve(events(2))).isNull();
		HandOff one = Objects.requireNonNull(this.queue.reserve(events(1)));
		one.cancel();
		two.committed(events(2));
		assertThat(this.queue.reserve(events(2))).isNull();
		assertThat(this.queue.take(1_000)).hasSize(2);
		assertThat(this.queue.reserve(events(CAPACITY))).isNotNull();
	}

	@Test
	void takesNothingForAPublisherThatIsUnavailable() {
		this.circuits.of("test").failed("away");
		assertThat(this.queue.reserve(events(1))).isNull();
		this.circuits.of("test").succeeded();
		assertThat(this.queue.reserve(events(1))).isNotNull();
	}

	@Test
	void isFinishedWhenItIsClosedAndNothingIsUnderWay() throws InterruptedException {
		HandOff one = Objects.requireNonNull(this.queue.reserve(events(1)));
		this.queue.close();
		assertThat(this.queue.reserve(events(1))).isNull();
		assertThat(this.queue.isFinished()).isFalse();
		one.committed(events(1));
		assertThat(this.queue.isFinished()).isFalse();
		assertThat(this.queue.take(1_000)).hasSize(1);
		assertThat(this.queue.isFinished()).isTrue();
	}

	@Test
	void givesEachHandOffAClaimOfItsOwn() {
		HandOff one = Objects.requireNonNull(this.queue.reserve(events(1)));
		HandOff other = Objects.requireNonNull(this.queue.reserve(events(1)));
		assertThat(one.lease().claimId()).isNotEqualTo(other.lease().claimId());
	}

	@Test
	void knowsWhatWaitedTooLongForItsLease() throws InterruptedException {
		HandOffQueue impatient = queue(Duration.ofNanos(2));
		impatient.open();
		Objects.requireNonNull(impatient.reserve(events(1))).committed(events(1));
		assertThat(impatient.take(1_000)).allMatch(HandOffQueue.Queued::isLate);
		Objects.requireNonNull(this.queue.reserve(events(1))).committed(events(1));
		assertThat(this.queue.take(1_000)).noneMatch(HandOffQueue.Queued::isLate);
	}

	private HandOffQueue queue(Duration lease) {
		Duration second = Duration.ofSeconds(1);
		return new HandOffQueue(
				new CourierSettings("test", 10, CAPACITY, 1, lease, second, second, second, 1, second, second, second),
				this.circuits, (row) -> {
				});
	}

	private static List<StoredEvent> events(int number) {
		return Collections.nCopies(number, new StoredEvent(UUID.randomUUID(), 1, RecordingPublisher.TOPIC, null, "type",
				new byte[0], Map.of(), 1));
	}

}
