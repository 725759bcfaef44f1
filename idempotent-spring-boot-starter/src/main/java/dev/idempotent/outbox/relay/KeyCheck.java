package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Compares the queues of keys with the first rows of these keys, and claims events that
 * were inserted without a lease.
 */
final class KeyCheck {

	/**
	 * How many events of a key are claimed at a time.
	 */
	private static final int CLAIMED_PER_KEY = 32;

	/**
	 * How long to insert events of a key without a lease after another instance was seen
	 * to deliver the key at the same time.
	 */
	private static final Duration CONFLICT_TIME = Duration.ofMillis(50);

	/**
	 * The same after the first event of the key was seen to wait.
	 */
	private static final Duration WAITING_TIME = Duration.ofSeconds(1);

	private final OrderedOutboxStore store;

	private final KeyQueues queues;

	private final RelaySettings settings;

	private final BooleanSupplier claiming;

	/**
	 * Creates a check.
	 * @param claiming whether to claim events that were not handed over
	 */
	KeyCheck(OrderedOutboxStore store, KeyQueues queues, RelaySettings settings, BooleanSupplier claiming) {
		this.store = store;
		this.queues = queues;
		this.settings = settings;
		this.claiming = claiming;
	}

	/**
	 * Checks queues that a worker has taken.
	 * @return the events that can be published
	 */
	Map<KeyQueue, KeyMember> check(List<KeyQueue> batch) {
		return check(batch, CLAIMED_PER_KEY);
	}

	/**
	 * Checks queues for a probe, which publishes one event of each. If none can be
	 * published yet, checks them once more after the claim.
	 * @return the events that can be published
	 */
	Map<KeyQueue, KeyMember> checkForProbe(List<KeyQueue> batch) {
		Map<KeyQueue, KeyMember> due = check(batch, 1);
		return due.isEmpty() ? check(batch, 1) : due;
	}

	private Map<KeyQueue, KeyMember> check(List<KeyQueue> batch, int claimedPerKey) {
		Map<KeyQueue, List<KeyMember>> committed = new LinkedHashMap<>();
		batch.forEach((queue) -> committed.put(queue, queue.beginCheck()));
		Map<Long, Head> heads = batch.isEmpty() ? Map.of()
				: this.store.heads(batch.stream().map((queue) -> queue.keyHash).toList());
		Map<KeyQueue, KeyMember> due = new LinkedHashMap<>();
		List<KeyQueue> free = new ArrayList<>();
		committed.forEach((queue, members) -> {
			Head head = heads.get(queue.keyHash);
			HeadCheck check = queue.check(members, head);
			if (check.member() != null) {
				due.put(queue, check.member());
			}
			else if (check.verdict() == HeadCheck.Verdict.CLAIM) {
				free.add(queue);
			}
			else if (check.verdict() == HeadCheck.Verdict.RELEASE) {
				this.queues.replace(queue);
			}
			if (head != null && !head.due() && head.claimId() == null) {
				this.queues.markElsewhere(queue.keyHash, WAITING_TIME);
			}
			else if (check.verdict() == HeadCheck.Verdict.RELEASE) {
				this.queues.markElsewhere(queue.keyHash, CONFLICT_TIME);
			}
		});
		claim(free, claimedPerKey);
		return due;
	}

	private void claim(List<KeyQueue> free, int perKey) {
		if (free.isEmpty()) {
			return;
		}
		long deadline = System.nanoTime() + this.settings.lease().toNanos() / 2;
		long limit = this.settings.batchMemory().toBytes();
		List<LeasedEvent> claimed = claimed(free,
				new KeyLimits(perKey, limit, BacklogWorker.TRUSTED_ATTEMPTS, this.settings.attempts()));
		boolean cut = claimed.stream().mapToLong(LeasedEvent::storedBytes).sum() >= limit;
		Map<Long, List<LeasedEvent>> byKey = claimed.stream().collect(Collectors.groupingBy(LeasedEvent::keyHash));
		for (KeyQueue queue : free) {
			List<LeasedEvent> events = byKey.getOrDefault(queue.keyHash, List.of());
			queue.addClaimed(events, deadline, cut || events.size() >= perKey);
			if (events.isEmpty() && cut) {
				queue.signal();
			}
			else if (events.isEmpty() && queue.hasCommitted()) {
				// Its events cannot be delivered before the first row, which is locked.
				this.queues.replace(queue);
			}
		}
	}

	private List<LeasedEvent> claimed(List<KeyQueue> free, KeyLimits limits) {
		if (!this.claiming.getAsBoolean()) {
			return List.of();
		}
		return this.store
			.claim(free.stream().collect(Collectors.toMap((queue) -> queue.keyHash, (queue) -> queue.lease)), limits);
	}

}
