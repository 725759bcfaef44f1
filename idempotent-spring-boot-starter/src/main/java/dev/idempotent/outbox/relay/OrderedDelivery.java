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

import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Delivers ordered events of one publisher. An event is published only after a check,
 * begun after its commit was known, that shows it as the first row of its key: all
 * earlier events of the key have been settled then. A batch has at most one event of each
 * key, so that its outcome is known before the next one is sent.
 */
final class OrderedDelivery {

	private static final int PROBED_KEYS = 10;

	private final OrderedSettlement ordered;

	private final BatchDelivery delivery;

	private final KeyQueues queues;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final KeyCheck keyCheck;

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
		this.keyCheck = new KeyCheck(ordered.store(), queues, settings, claiming);
	}

	/**
	 * Advances queues that a worker has taken, and schedules those that need a further
	 * step.
	 */
	void advance(List<KeyQueue> batch) {
		try {
			List<KeyQueue> available = releaseUnavailable(batch);
			Map<KeyQueue, KeyMember> due = trusted(this.keyCheck.check(available));
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
			Map<KeyQueue, KeyMember> due = trusted(this.keyCheck.checkForProbe(probed));
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
		Map<KeyQueue, List<LeasedEvent>> releases = new LinkedHashMap<>();
		List<KeyQueue> available = new ArrayList<>();
		for (KeyQueue queue : batch) {
			List<LeasedEvent> released = new ArrayList<>(queue.takeReleases());
			if (this.circuit.isClosed(queue.topic)) {
				available.add(queue);
			}
			else {
				released.addAll(this.queues.retire(queue));
				this.circuit.eventAvailable(queue.topic, queue.keyHash);
			}
			if (!released.isEmpty()) {
				releases.put(queue, released);
			}
		}
		if (!releases.isEmpty()) {
			release(releases);
		}
		return available;
	}

	private void release(Map<KeyQueue, List<LeasedEvent>> releases) {
		try {
			this.ordered.store().release(releases.values().stream().flatMap(List::stream).toList());
		}
		catch (RuntimeException ex) {
			releases.forEach((queue, events) -> this.queues.release(queue.keyHash, queue.topic, events));
			throw ex;
		}
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
