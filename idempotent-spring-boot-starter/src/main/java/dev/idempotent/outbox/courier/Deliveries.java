package dev.idempotent.outbox.courier;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.idempotent.outbox.HeldEvent;
import dev.idempotent.outbox.OutboxObserver;
import dev.idempotent.outbox.OutboxObserver.BatchResult;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.OutboxStore;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.StoredEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes held events, outside any transaction, and settles them.
 */
final class Deliveries {

	private static final Logger logger = LoggerFactory.getLogger(Deliveries.class);

	private final OutboxStore store;

	private final OutboxTopics topics;

	private final PublisherCircuits circuits;

	private final CourierSettings settings;

	private final OutboxObserver observer;

	private final BackOff backOff;

	Deliveries(OutboxStore store, OutboxTopics topics, PublisherCircuits circuits, CourierSettings settings,
			OutboxObserver observer) {
		this.store = store;
		this.topics = topics;
		this.circuits = circuits;
		this.settings = settings;
		this.observer = observer;
		this.backOff = new BackOff(settings.firstBackOff(), settings.longestBackOff());
	}

	/**
	 * Delivers events. What fails is kept for later; what the store cannot be told is
	 * delivered again when its lease has ended.
	 * @return those that the broker has
	 */
	List<HeldEvent> deliver(List<HeldEvent> events) {
		Map<String, List<HeldEvent>> byPublisher = new LinkedHashMap<>();
		for (HeldEvent event : events) {
			byPublisher.computeIfAbsent(event.event().publisher(), (prefix) -> new ArrayList<>()).add(event);
		}
		List<HeldEvent> delivered = new ArrayList<>();
		byPublisher.forEach((publisher, batch) -> delivered.addAll(deliver(publisher, batch)));
		return delivered;
	}

	/**
	 * Gives back what was not attempted.
	 */
	void release(List<HeldEvent> events) {
		if (!events.isEmpty()) {
			this.store.release(events);
		}
	}

	private List<HeldEvent> deliver(String publisher, List<HeldEvent> batch) {
		Settlement settlement = new Settlement(this.backOff, this.settings.attempts());
		List<HeldEvent> due = new ArrayList<>();
		for (HeldEvent event : batch) {
			if (event.event().attempts() > this.settings.attempts()) {
				settlement.giveUp(event);
			}
			else {
				due.add(event);
			}
		}
		long begun = System.nanoTime();
		List<Outcome> outcomes = due.isEmpty() ? List.of() : publish(publisher, due);
		Duration took = Duration.ofNanos(System.nanoTime() - begun);
		List<HeldEvent> delivered = new ArrayList<>();
		for (int i = 0; i < due.size(); i++) {
			settlement.add(due.get(i), outcomes.get(i));
			if (outcomes.get(i) instanceof Outcome.Delivered) {
				delivered.add(due.get(i));
			}
		}
		settle(publisher, settlement, took);
		return delivered;
	}

	private List<Outcome> publish(String prefix, List<HeldEvent> due) {
		PublisherCircuit circuit = this.circuits.of(prefix);
		OutboxPublisher publisher = this.topics.publisherOf(due.get(0).event());
		if (publisher == null || !circuit.permits()) {
			Outcome unavailable = new Outcome.Unavailable("The publisher is unavailable");
			return due.stream().map((event) -> unavailable).toList();
		}
		List<StoredEvent> events = due.stream().map(HeldEvent::event).toList();
		List<Outcome> outcomes = new BatchPublication(publisher).publish(events);
		outcomes.stream()
			.filter(Outcome.Unavailable.class::isInstance)
			.findFirst()
			.ifPresentOrElse((outcome) -> circuit.failed(((Outcome.Unavailable) outcome).reason()), circuit::succeeded);
		return outcomes;
	}

	private void settle(String publisher, Settlement settlement, Duration took) {
		try {
			BatchResult result = settlement.settle(this.store);
			this.observer.published(publisher, result, took);
			if (result.dead() > 0) {
				logger.error("Gave up {} for {}; see the actuator endpoint 'outbox' or the table of the dead",
						(result.dead() == 1) ? "1 event" : result.dead() + " events", publisher);
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The database could not be told what became of a batch; "
					+ "it is delivered again, with the same event ids, when its leases have ended", ex);
		}
	}

}
