package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

import dev.idempotent.outbox.DeadLetterPolicy;
import dev.idempotent.outbox.EventSettlement;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.work.RootCause;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes leased events of one publisher, outside any transaction, and settles them.
 */
final class BatchDelivery {

	private static final Logger logger = LoggerFactory.getLogger(BatchDelivery.class);

	private static final Outcome SKIPPED = new Outcome.Unavailable("The destination was unavailable or paused");

	private final EventSettlement store;

	private final BatchPublisher publisher;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final DeadLetterPolicy policy;

	private final OutboxObserver observer;

	private final LongConsumer onReleased;

	/**
	 * Creates a delivery.
	 * @param onReleased called with the first row of events that were released although
	 * their destination is available
	 */
	BatchDelivery(EventSettlement store, BatchPublisher publisher, PublisherCircuit circuit, RelaySettings settings,
			DeadLetterPolicy policy, OutboxObserver observer, LongConsumer onReleased) {
		this.store = store;
		this.publisher = publisher;
		this.circuit = circuit;
		this.settings = settings;
		this.policy = policy;
		this.observer = observer;
		this.onReleased = onReleased;
	}

	/**
	 * Delivers events, except those to unavailable destinations. If the store cannot be
	 * updated, events are delivered again when their lease ends.
	 * @return the outcomes
	 */
	BatchSettlement deliver(List<LeasedEvent> events) {
		return deliver(events, (event) -> this.circuit.isClosed(event.topic()));
	}

	/**
	 * Delivers events to any destination that is not paused, to find out whether it is
	 * available.
	 */
	BatchSettlement probe(List<LeasedEvent> events) {
		return deliver(events, (event) -> !this.circuit.isPaused(event.topic()));
	}

	/**
	 * Releases events without an attempt.
	 */
	void release(List<LeasedEvent> events) {
		if (!events.isEmpty()) {
			this.store.release(events);
		}
	}

	private BatchSettlement deliver(List<LeasedEvent> events, Predicate<SerializedEvent> sendable) {
		BatchSettlement settlement = new BatchSettlement(this.settings, this.policy);
		if (events.isEmpty()) {
			return settlement;
		}
		List<LeasedEvent> due = selectDue(events, sendable, settlement);
		logUndeliverable(events);
		long start = System.nanoTime();
		List<Outcome> outcomes = this.publisher.publish(due.stream().map(LeasedEvent::event).toList());
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		for (int i = 0; i < due.size(); i++) {
			settlement.add(due.get(i), outcomes.get(i));
		}
		settle(settlement, took);
		reportReleased(due, outcomes);
		return settlement;
	}

	private List<LeasedEvent> selectDue(List<LeasedEvent> events, Predicate<SerializedEvent> sendable,
			BatchSettlement settlement) {
		List<LeasedEvent> due = new ArrayList<>();
		for (LeasedEvent event : events) {
			if (event.event().attempts() > this.settings.attempts()) {
				settlement.addExhausted(event);
			}
			else if (event.undeliverable() != null) {
				settlement.add(event, event.undeliverable());
			}
			else if (sendable.test(event.event())) {
				due.add(event);
			}
			else {
				settlement.add(event, SKIPPED);
			}
		}
		return due;
	}

	/**
	 * One line for a batch: with a missing key, no event of a backlog can be delivered.
	 */
	private void logUndeliverable(List<LeasedEvent> events) {
		List<Outcome.Retry> retries = events.stream()
			.map(LeasedEvent::undeliverable)
			.filter(Outcome.Retry.class::isInstance)
			.map(Outcome.Retry.class::cast)
			.toList();
		if (!retries.isEmpty()) {
			logger.warn("{} of {} events for {} cannot be delivered yet; the first one: {}", retries.size(),
					events.size(), this.publisher.prefix(), retries.get(0).reason());
		}
	}

	/**
	 * Released events whose destination accepted others of the batch are due again.
	 */
	private void reportReleased(List<LeasedEvent> due, List<Outcome> outcomes) {
		for (int i = 0; i < due.size(); i++) {
			SerializedEvent event = due.get(i).event();
			if (outcomes.get(i) instanceof Outcome.Unavailable && this.circuit.isClosed(event.topic())) {
				this.onReleased.accept(event.sequence());
				return;
			}
		}
	}

	private void settle(BatchSettlement settlement, Duration took) {
		try {
			BatchResult result = settlement.settle(this.store);
			this.observer.published(this.publisher.prefix(), result, took);
			if (result.dead() > 0) {
				logger.error("{} for {} became dead, or block their keys; see the actuator endpoint 'outbox'",
						(result.dead() == 1) ? "1 event" : result.dead() + " events", this.publisher.prefix());
			}
		}
		catch (RuntimeException ex) {
			logger
				.warn("The outcomes of a batch for {} could not be stored; it is delivered again, with the same event "
						+ "ids, once its leases end: {}", this.publisher.prefix(), RootCause.of(ex));
			logger.debug("The stack trace of the failure above", ex);
		}
	}

}
