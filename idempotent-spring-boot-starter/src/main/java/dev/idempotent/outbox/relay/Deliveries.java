package dev.idempotent.outbox.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes held events of one publisher, outside any transaction, and settles them.
 */
final class Deliveries {

	private static final Logger logger = LoggerFactory.getLogger(Deliveries.class);

	private static final Outcome UNTRIED = new Outcome.Unavailable("Unavailable a moment ago");

	private final OutboxStore store;

	private final OutboxPublisher publisher;

	private final PublisherCircuit circuit;

	private final RelaySettings settings;

	private final OutboxObserver observer;

	private final LongConsumer onLeftBehind;

	private final BackOff backoff;

	/**
	 * Creates deliveries.
	 * @param onLeftBehind is told the first row of events that were given back although
	 * they can be sent
	 */
	Deliveries(OutboxStore store, OutboxPublisher publisher, PublisherCircuit circuit, RelaySettings settings,
			OutboxObserver observer, LongConsumer onLeftBehind) {
		this.store = store;
		this.publisher = publisher;
		this.circuit = circuit;
		this.settings = settings;
		this.observer = observer;
		this.onLeftBehind = onLeftBehind;
		this.backoff = new BackOff(settings.firstBackOff(), settings.longestBackOff());
	}

	/**
	 * Delivers events, but for those that go where nothing is sent now. What fails is
	 * kept for later; what the store cannot be told is delivered again when its lease has
	 * ended.
	 * @return those that the broker has
	 */
	List<LeasedEvent> deliver(List<LeasedEvent> events) {
		return deliver(events, (event) -> this.circuit.isClosed(event.topic()));
	}

	/**
	 * Delivers events wherever they go, to find out whether that is available.
	 */
	void probe(List<LeasedEvent> events) {
		List<LeasedEvent> unused = deliver(events, (event) -> true);
	}

	/**
	 * Gives back what was not attempted.
	 */
	void release(List<LeasedEvent> events) {
		if (!events.isEmpty()) {
			this.store.release(events);
		}
	}

	private List<LeasedEvent> deliver(List<LeasedEvent> events, Predicate<SerializedEvent> sent) {
		if (events.isEmpty()) {
			return List.of();
		}
		Settlement settlement = new Settlement(this.backoff, this.settings.attempts());
		List<LeasedEvent> due = new ArrayList<>();
		for (LeasedEvent event : events) {
			if (event.event().attempts() > this.settings.attempts()) {
				settlement.giveUp(event);
			}
			else if (sent.test(event.event())) {
				due.add(event);
			}
			else {
				settlement.add(event, UNTRIED);
			}
		}
		long begun = System.nanoTime();
		List<Outcome> outcomes = due.isEmpty() ? List.of() : publish(due.stream().map(LeasedEvent::event).toList());
		Duration took = Duration.ofNanos(System.nanoTime() - begun);
		List<LeasedEvent> delivered = new ArrayList<>();
		for (int i = 0; i < due.size(); i++) {
			settlement.add(due.get(i), outcomes.get(i));
			if (outcomes.get(i) instanceof Outcome.Delivered) {
				delivered.add(due.get(i));
			}
		}
		settle(settlement, took);
		lookAgainFor(due, outcomes);
		return delivered;
	}

	private List<Outcome> publish(List<SerializedEvent> events) {
		List<Outcome> outcomes = new BatchPublication(this.publisher).publish(events);
		this.circuit.record(events, outcomes);
		return outcomes;
	}

	/**
	 * Those to a destination that has taken others of the batch.
	 */
	private void lookAgainFor(List<LeasedEvent> due, List<Outcome> outcomes) {
		for (int i = 0; i < due.size(); i++) {
			SerializedEvent event = due.get(i).event();
			if (outcomes.get(i) instanceof Outcome.Unavailable && this.circuit.isClosed(event.topic())) {
				this.onLeftBehind.accept(event.sequence());
				return;
			}
		}
	}

	private void settle(Settlement settlement, Duration took) {
		try {
			BatchResult result = settlement.settle(this.store);
			this.observer.published(this.publisher.prefix(), result, took);
			if (result.dead() > 0) {
				logger.error("Gave up {} for {}; see the actuator endpoint 'outbox' or the table of the dead",
						(result.dead() == 1) ? "1 event" : result.dead() + " events", this.publisher.prefix());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The database could not be told what became of a batch; "
					+ "it is delivered again, with the same event ids, when its leases have ended", ex);
		}
	}

}
