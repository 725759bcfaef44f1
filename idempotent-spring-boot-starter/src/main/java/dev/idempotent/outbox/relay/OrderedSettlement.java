package dev.idempotent.outbox.relay;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.idempotent.outbox.EventSettlement;
import dev.idempotent.outbox.OrderedOutboxStore;
import dev.idempotent.outbox.OutboxStore.FailedEvent;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;

/**
 * Settles ordered events. Depending on its topic, an event without a next attempt becomes
 * dead or blocks its key.
 *
 * @param blocking the topics whose keys are blocked
 */
record OrderedSettlement(OrderedOutboxStore store, Predicate<String> blocking) implements EventSettlement {

	/**
	 * Returns whether an event without a next attempt blocks its key.
	 */
	boolean blocks(LeasedEvent event) {
		return this.blocking.test(event.event().topic());
	}

	@Override
	public int delivered(List<LeasedEvent> events) {
		return this.store.delivered(events);
	}

	@Override
	public int release(List<LeasedEvent> events) {
		return this.store.release(events);
	}

	@Override
	public int postpone(List<FailedEvent> events) {
		return this.store.postpone(events);
	}

	@Override
	public int deadLetter(List<FailedEvent> events) {
		Map<Boolean, List<FailedEvent>> blocking = events.stream()
			.collect(Collectors.partitioningBy((event) -> blocks(event.leased())));
		return this.store.block(blocking.getOrDefault(true, List.of()))
				+ this.store.deadLetter(blocking.getOrDefault(false, List.of()));
	}

}
