package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStore.OrderedRow;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.relay.HeadCheck.Verdict;
import org.junit.jupiter.api.Test;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeyQueue} and {@link KeyQueues}.
 */
class KeyQueueTests {

	private static final long KEY = 7;

	private static final long FAR = System.nanoTime() + Duration.ofHours(1).toNanos();

	private final QueueCapacity capacity = new QueueCapacity(
			new HandOffRegistryTests.TestSettings(Duration.ofMinutes(1)));

	private final KeyQueues queues = new KeyQueues("test", Duration.ofMinutes(1), this.capacity);

	@Test
	void publishesTheFirstCommittedEventIfItIsTheHead() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 1, 2);
		assertThat(check(queue, ours(queue, 1))).isEqualTo(Verdict.PUBLISH);
	}

	@Test
	void dropsEventsBelowTheHead() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 1, 2);
		assertThat(check(queue, ours(queue, 2))).isEqualTo(Verdict.PUBLISH);
		assertThat(queue.beginCheck()).extracting((member) -> member.event().row()).containsExactly(2L);
		assertThat(check(queue, null)).isEqualTo(Verdict.WAIT);
		assertThat(this.capacity.isEmpty()).isTrue();
	}

	@Test
	void keepsAnEventThatCommitsDuringACheck() {
		KeyQueue queue = insert(1);
		List<KeyMember> committed = queue.beginCheck();
		commit(queue, 1);
		assertThat(queue.check(committed, null).verdict()).isEqualTo(Verdict.WAIT);
		assertThat(queue.schedule()).isTrue();
		assertThat(check(queue, ours(queue, 1))).isEqualTo(Verdict.PUBLISH);
	}

	@Test
	void waitsForAHeadWhoseCommitHasNotBeenReported() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 2);
		assertThat(check(queue, ours(queue, 1))).isEqualTo(Verdict.WAIT);
		assertThat(queue.schedule()).isFalse();
		commit(queue, 1);
		assertThat(queue.schedule()).isTrue();
	}

	@Test
	void stopsWaitingForAnEventThatIsRolledBack() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 2);
		assertThat(check(queue, ours(queue, 1))).isEqualTo(Verdict.WAIT);
		queue.leave(1);
		assertThat(queue.schedule()).isTrue();
	}

	@Test
	void claimsEventsWithoutALeaseBeforeItsOwn() {
		KeyQueue queue = insert(2);
		commit(queue, 2);
		assertThat(check(queue, new Head(1, null, true))).isEqualTo(Verdict.CLAIM);
	}

	@Test
	void releasesItsEventsBehindThoseOfAnotherClaim() {
		KeyQueue queue = insert(2);
		commit(queue, 2);
		assertThat(check(queue, new Head(1, UUID.randomUUID(), false))).isEqualTo(Verdict.RELEASE);
		assertThat(check(queue, new Head(2, UUID.randomUUID(), false))).isEqualTo(Verdict.RELEASE);
		assertThat(check(queue, new Head(1, null, false))).isEqualTo(Verdict.RELEASE);
	}

	@Test
	void releasesEventsWhoseLeaseMayEndSoon() {
		KeyQueue queue = reserve();
		queue.join(leased(queue, 1), System.nanoTime());
		commit(queue, 1);
		assertThat(check(queue, ours(queue, 1))).isEqualTo(Verdict.RELEASE);
		assertThat(check(queue, new Head(1, queue.lease.claimId(), true))).isEqualTo(Verdict.RELEASE);
	}

	@Test
	void claimsOnlyADueHead() {
		KeyQueue queue = reserve();
		assertThat(check(queue, new Head(1, null, true))).isEqualTo(Verdict.CLAIM);
		assertThat(check(queue, new Head(1, UUID.randomUUID(), false))).isEqualTo(Verdict.WAIT);
		assertThat(check(queue, null)).isEqualTo(Verdict.WAIT);
	}

	@Test
	void leavesAnEventOfAReplacedQueueToItsSuccessor() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 1);
		this.queues.replace(queue);
		assertThat(queue.committed(2)).isFalse();
		KeyQueue successor = this.queues.ready().poll();
		assertThat(successor).isNotNull().isNotSameAs(queue);
		assertThat(successor.takeReleases()).extracting(LeasedEvent::row).containsExactly(1L);
	}

	@Test
	void claimsNothingForAReplacedQueue() {
		KeyQueue queue = insert(1);
		commit(queue, 1);
		List<KeyMember> committed = queue.beginCheck();
		this.queues.replace(queue);
		assertThat(queue.check(committed, ours(queue, 1)).verdict()).isEqualTo(Verdict.WAIT);
		assertThat(check(queue, new Head(1, null, true))).isEqualTo(Verdict.WAIT);
	}

	@Test
	void releasesAnEventThatCommitsWhileTheSuccessorIsReplaced() {
		KeyQueue queue = insert(1);
		this.queues.replace(queue);
		KeyQueue successor = this.queues.ready().poll();
		assertThat(successor).isNotNull();
		assertThat(successor.takeReleases()).isEmpty();
		assertThat(queue.committed(1)).isFalse();
		this.queues.release(KEY, RecordingPublisher.TOPIC, List.of(leased(queue, 1)));
		this.queues.replace(successor);
		this.queues.putBack(successor);
		KeyQueue last = this.queues.ready().poll();
		assertThat(last).isNotNull().isNotSameAs(successor);
		assertThat(last.takeReleases()).extracting(LeasedEvent::row).containsExactly(1L);
	}

	@Test
	void releasesTheEventsOfAReplacedQueueWhenItIsDrained() {
		KeyQueue queue = insert(1, 2);
		commit(queue, 1);
		this.queues.replace(queue);
		assertThat(this.queues.drain()).extracting(LeasedEvent::row).containsExactly(1L);
	}

	@Test
	void leasesNoEventBehindOneWithoutALease() {
		KeyQueue queue = reserve();
		assertThat(this.queues.reserve(KEY, event(0))).isSameAs(queue);
		assertThat(this.queues.reserve(KEY, event(0))).isSameAs(queue);
		assertThat(this.queues.reserve(KEY, event(0))).as("capacity").isNull();
		queue.leave(event(0));
		assertThat(this.queues.reserve(KEY, event(0))).as("an event before it has no lease").isNull();
		queue.addClaimed(List.of(), FAR, false);
		assertThat(this.queues.reserve(KEY, event(0))).isSameAs(queue);
	}

	@Test
	void leasesNoEventOfAKeyThatAnotherInstanceDelivers() {
		this.queues.markElsewhere(KEY, Duration.ofMinutes(1));
		assertThat(this.queues.reserve(KEY, event(0))).isNull();
		assertThat(this.queues.reserve(KEY + 1, event(0))).isNotNull();
	}

	@Test
	void looksForEventsWithoutALeaseBeforeOneThatHasNotCommitted() {
		KeyQueue queue = insert(1, 3);
		commit(queue, 1);
		queue.settled(1);
		assertThat(queue.schedule()).isTrue();
		assertThat(check(queue, new Head(2, null, true))).isEqualTo(Verdict.CLAIM);
	}

	@Test
	void forgetsAQueueWithoutEvents() {
		KeyQueue queue = insert(1);
		commit(queue, 1);
		assertThat(queue.schedule()).isTrue();
		queue.settled(1);
		this.queues.putBack(queue);
		KeyQueue signaled = this.queues.ready().poll();
		assertThat(signaled).as("looks for events without a lease").isSameAs(queue);
		assertThat(check(queue, null)).isEqualTo(Verdict.WAIT);
		this.queues.putBack(queue);
		assertThat(this.queues.isFull(1)).isFalse();
	}

	private KeyQueue insert(long... rows) {
		KeyQueue queue = null;
		for (long row : rows) {
			queue = reserve();
			queue.join(leased(queue, row), FAR);
		}
		return Objects.requireNonNull(queue);
	}

	private KeyQueue reserve() {
		return Objects.requireNonNull(this.queues.reserve(KEY, event(0)));
	}

	private static void commit(KeyQueue queue, long... rows) {
		for (long row : rows) {
			assertThat(queue.committed(row)).isTrue();
		}
	}

	private static Verdict check(KeyQueue queue, @Nullable Head head) {
		return queue.check(queue.beginCheck(), head).verdict();
	}

	private static Head ours(KeyQueue queue, long row) {
		return new Head(row, queue.lease.claimId(), false);
	}

	private static LeasedEvent leased(KeyQueue queue, long row) {
		return new LeasedEvent(event(row), queue.lease.claimId(), new OrderedRow(KEY, row));
	}

	private static SerializedEvent event(long row) {
		return new SerializedEvent(UUID.randomUUID(), row, RecordingPublisher.TOPIC, "key", "type", new byte[0],
				Map.of(), 1);
	}

}
