package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OrderedOutboxStore.Head;
import dev.idempotent.outbox.OrderedOutboxStore.KeyLimits;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxStore.EventLease;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Delivers ordered events of one publisher. An event is published only after a check,
 * begun after its commit was known, that shows it as the first row of its key: all
 * earlier events of the key have been settled then. A batch has at most one event of each
 * key, so that its outcome is known before the next one is sent.
 */
final class OrderedDelivery {

	/**
	 * How many events of a key are claimed at a time.
	 */
	private static final int CLAIMED_PER_KEY = 32;

	private static final int PROBED_KEYS = 10;

	/**
	 * How long to insert events of a key without a lease after another instance was seen
	 * to deliver the key at the same time.
	 */
	private static final Duration CONFLICT_TIME = Duration.ofMillis(50);

	/**
	 * The same after the first event of the key was seen to wait.
	 */
	private static final Duration WAITING_TIME = Duration.ofSeconds(1);

	private final OrderedSettlement ordered;

	private final BatchDelivery delivery;

	private final KeyQueues queues;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final BooleanSupplier claiming;

	/**
	 * Creates a delivery.
	 * @param claiming whether to claim events that were not handed over
	 */
	OrderedDelivery(OrderedSettlement ordered, BatchDelivery delivery, KeyQueues queues, PublisherCircuit circuit,
			RelaySettings settings, OutboxObserver observer, BooleanSupplier claiming) {
		this.ordered = ordered;
		this.delivery = delivery;
		this.queues = queues;
		this.circuit = circuit;
		this.settings = settings;
		this.observer = observer;
		this.claiming = claiming;
	}

	/**
	 * Advances queues that a worker has taken, and schedules those that need a further
	 * step.
	 */
	void advance(List<KeyQueue> batch) {
		try {
			List<KeyQueue> available = releaseUnavailable(batch);
			Map<KeyQueue, KeyMember> due = check(available, CLAIMED_PER_KEY);
			if (!due.isEmpty()) {
				settle(due, this.delivery.deliver(events(due)));
			}
		}
		catch (RuntimeException ex) {
			batch.forEach(KeyQueue::signal);
			throw ex;
		}
		finally {
			batch.forEach(this.queues::putBack);
		}
	}

	/**
	 * Sends the first events of some keys to find out whether their topic is available.
	 * @return whether there was one
	 */
	boolean probe(String topic) {
		List<KeyQueue> probed = this.circuit.takeKeys(topic, PROBED_KEYS)
			.stream()
			.map((keyHash) -> this.queues.takeForProbe(keyHash, topic))
			.flatMap(Optional::stream)
			.toList();
		try {
			Map<KeyQueue, KeyMember> due = check(probed, 1);
			if (due.isEmpty()) {
				due = check(probed, 1);
			}
			if (!due.isEmpty()) {
				settle(due, this.delivery.probe(events(due)));
			}
			return !due.isEmpty();
		}
		finally {
			probed.forEach(this.queues::putBack);
		}
	}

	/**
	 * Releases the events of unavailable destinations, which are left to probes, and
	 * those of replaced queues.
	 * @return the other queues
	 */
	private List<KeyQueue> releaseUnavailable(List<KeyQueue> batch) {
		List<LeasedEvent> released = new ArrayList<>();
		List<KeyQueue> available = new ArrayList<>();
		for (KeyQueue queue : batch) {
			released.addAll(queue.takeReleases());
			if (this.circuit.isClosed(queue.topic)) {
				available.add(queue);
			}
			else {
				released.addAll(this.queues.retire(queue));
				this.circuit.eventAvailable(queue.topic, queue.keyHash);
			}
		}
		if (!released.isEmpty()) {
			this.ordered.store().release(released);
		}
		return available;
	}

	/**
	 * Compares queues with the first rows of their keys.
	 * @return the events that can be published
	 */
	private Map<KeyQueue, KeyMember> check(List<KeyQueue> batch, int claimedPerKey) {
		Map<KeyQueue, List<KeyMember>> committed = new LinkedHashMap<>();
		batch.forEach((queue) -> committed.put(queue, queue.beginCheck()));
		Map<Long, Head> heads = batch.isEmpty() ? Map.of()
				: this.ordered.store().heads(batch.stream().map((queue) -> queue.keyHash).toList());
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
		return trusted(due);
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
		return this.ordered.store()
			.claim(free.stream().collect(Collectors.toMap((queue) -> queue.keyHash, (queue) -> queue.lease)), limits);
	}

	/**
	 * Events with many unfinished attempts may crash the process. They are published in
	 * ever smaller groups.
	 */
	private Map<KeyQueue, KeyMember> trusted(Map<KeyQueue, KeyMember> due) {
		int limit = BacklogWorker.groupSize(events(due), this.settings);
		Map<KeyQueue, KeyMember> group = new LinkedHashMap<>();
		long bytes = 0;
		for (Map.Entry<KeyQueue, KeyMember> each : due.entrySet()) {
			if (group.size() < limit && (group.isEmpty() || bytes < this.settings.batchMemory().toBytes())) {
				group.put(each.getKey(), each.getValue());
				bytes += each.getValue().event().storedBytes();
			}
		}
		return group;
	}

	private void settle(Map<KeyQueue, KeyMember> published, BatchSettlement settlement) {
		Set<LeasedEvent> deliveredEvents = Set.copyOf(settlement.delivered());
		Set<LeasedEvent> skipped = settlement.dead()
			.filter((event) -> !this.ordered.blocks(event))
			.collect(Collectors.toSet());
		published.forEach((queue, member) -> {
			boolean delivered = deliveredEvents.contains(member.event());
			queue.settled(member.event().row());
			if (!settlement.isStored()) {
				// Delivered again when its lease ends, and before the others of its key.
				List<LeasedEvent> unused = this.queues.retire(queue);
			}
			else if (!delivered && !skipped.contains(member.event())) {
				this.queues.replace(queue);
			}
			if (delivered && member.wasHandedOver()) {
				this.observer.delivered(member.event().event().publisher(),
						Duration.ofNanos(System.nanoTime() - member.committed()));
			}
		});
	}

	private static List<LeasedEvent> events(Map<KeyQueue, KeyMember> due) {
		return due.values().stream().map(KeyMember::event).toList();
	}

}
